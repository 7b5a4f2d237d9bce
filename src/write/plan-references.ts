import { formOf } from '../ground/text.ts'
import type { Verdict } from './outcome.ts'
import { type CachedLinks, changesOf, type LinkChanges, type Links } from './service-cache.ts'
import { groupBy } from './task-pool.ts'

/** The change that one record wants, under one name of one collection. */
export interface ReferenceChange {
  readonly ordinal: number
  /** In the spelling of the service, if it has the value. */
  readonly value: string
  /** The id to which the value should be linked; undefined deletes the value. */
  readonly id: string | undefined
  /** Whether it was requested before: a deletion is requested once, whatever the list says. */
  readonly isAsked?: boolean
}

/**
 * A request, and the record for which it is made; undefined: it undoes what a rejected record started.
 */
export interface ReferenceDelete {
  readonly value: string
  readonly ordinal: number | undefined
}
/** A put, like `ReferenceDelete` for a delete. */
export interface ReferencePut extends ReferenceDelete {
  readonly id: string
  /** An old link that prevents this one is deleted first. */
  readonly isRelink: boolean
  /** The id to which the value was linked before. */
  readonly takenFrom?: string
  /** An earlier record of the input has made the link that it replaces. */
  readonly replaces?: true
}

/** The requests: all deletes, then all puts. */
export interface ReferencePlan {
  readonly deletes: readonly ReferenceDelete[]
  readonly puts: readonly ReferencePut[]
  /**
   * Puts that the service will refuse, with its own message, because the old link must not be deleted.
   */
  readonly refusals: readonly ReferencePut[]
  /** Records that need no request, by their ordinals. */
  readonly settled: ReadonlyMap<number, Verdict>
}

/** What is compared. */
export interface ReferencePlanInput {
  /** The links before any of the changes. */
  readonly start: Links
  /** The present links: an earlier attempt may have done a part. */
  readonly current: Links & { changed(): Iterable<string> }
  /** In the order of the input: if two changes have the same key, the later one counts. */
  readonly changes: readonly ReferenceChange[]
  /** Whether old links that prevent new ones are deleted. */
  readonly relink: boolean
}

/**
 * Compares the links that result from the changes with the present ones. Because deletes come before puts, no
 * put meets a value or a record that is taken, whatever the order of the changes.
 */
export function planReferences(input: ReferencePlanInput): ReferencePlan {
  const { start, current, changes } = input
  const { target, owners, settled, refusals } = fold(input)
  const deletes: ReferenceDelete[] = []
  const puts: ReferencePut[] = []
  const unasked = new Set(
    changes.filter(({ id, isAsked }) => id === undefined && !isAsked).map(({ ordinal }) => ordinal),
  )
  for (const value of new Set([...target.changed(), ...current.changed()])) {
    const ordinal = owners.get(value)
    const [have, want] = [current.idOf(value), target.idOf(value)]
    // The list may not show what is to be deleted: only the answer to a DELETE says that it is gone.
    const isWanted = ordinal !== undefined && unasked.has(ordinal)
    if (isWanted || (have !== undefined && have !== want)) deletes.push({ value, ordinal })
    if (want !== undefined && have !== want)
      puts.push({ value, id: want, ordinal, ...relinked(start, value, want) })
  }
  for (const { ordinal, value, id } of changes) {
    if (settled.has(ordinal)) continue
    if (owners.get(value) !== ordinal)
      settled.set(ordinal, target.idOf(value) === id ? REPEATED : REPLACED)
    else if (id !== undefined && current.idOf(value) === id)
      settled.set(ordinal, { outcome: 'skipped' })
  }
  return { deletes, puts, refusals, settled }
}

const REPEATED: Verdict = { outcome: 'skipped', reason: 'A later record has the same values.' }
const REPLACED: Verdict = {
  outcome: 'skipped',
  reason: 'A later record with the same value or the same internalReference counts.',
  replaced: true,
}
const HAS_ANOTHER_VALUE: Verdict = {
  outcome: 'rejected',
  reason:
    'The record with this internalReference has another value under this name, and relink is off.',
}
const IS_LINKED: Verdict = {
  outcome: 'rejected',
  reason: 'The value is linked to another internalReference, and relink is off.',
}

/** The links after the changes, one after another. */
export function targetOf(input: Omit<ReferencePlanInput, 'current'>): LinkChanges {
  return fold(input).target
}

/** The resulting links, and the last record that changed each value. */
function fold({ start, changes, relink }: Omit<ReferencePlanInput, 'current'>) {
  const target = changesOf(start)
  const owners = new Map<string, number>()
  const settled = new Map<number, Verdict>()
  const refusals: ReferencePut[] = []
  for (const { ordinal, value, id } of changes) {
    if (id === undefined) target.unlink(value)
    else {
      const linked = target.idOf(value)
      const other = target.valueOfId(id)
      const isTaken = other !== undefined && other !== value
      if (!relink && isTaken) {
        settled.set(ordinal, HAS_ANOTHER_VALUE)
        continue
      }
      if (!relink && linked !== undefined && linked !== id) {
        settled.set(ordinal, IS_LINKED)
        refusals.push({ value, id, ordinal, isRelink: false })
        continue
      }
      if (isTaken) owners.set(other, ordinal)
      target.link(value, id)
    }
    owners.set(value, ordinal)
  }
  return { target, owners, settled, refusals }
}

function relinked(
  start: Links,
  value: string,
  id: string,
): Pick<ReferencePut, 'isRelink' | 'takenFrom' | 'replaces'> {
  const [formerId, formerValue] = [start.idOf(value), start.valueOfId(id)]
  const isMoved = formerId !== undefined && formerId !== id
  const isRenamed = formerValue !== undefined && formerValue !== value
  const replaces = (isMoved && start.isOurs(value)) || (isRenamed && start.isOurs(formerValue))
  return {
    isRelink: isMoved || isRenamed,
    ...(isMoved && { takenFrom: formerId }),
    ...(replaces && { replaces }),
  }
}

/**
 * The changes in groups that have no value and no record in common, neither in what they want nor in the old
 * links that they replace. Each group can be applied without the others.
 */
export function independentChanges(
  changes: readonly ReferenceChange[],
  links: CachedLinks,
): ReferenceChange[][] {
  const { join, rootOf } = createUnions()
  for (const change of changes)
    for (const node of concernedBy(change, links)) join(ofValue(change.value), node)
  return groupBy(changes, ({ value }) => rootOf(ofValue(value)))
}

/** The values and records that a change may touch in addition to its own value. */
function concernedBy({ value, id }: ReferenceChange, links: CachedLinks): string[] {
  const former = id === undefined ? undefined : links.valueOfId(id)
  const ids = [id, links.idOf(value)]
  return [
    // A value can be deleted to make room for another form of it.
    `form ${formOf(value)}`,
    ...(former === undefined ? [] : [ofValue(former)]),
    ...ids.filter((one) => one !== undefined).map(ofId),
  ]
}

/**
 * The ordinals of changes that link a value although another one of its form is linked or wanted by an earlier change:
 * a service that ignores case or blanks treats both as one value, and each run would link them again. If the service
 * lists both, it tells them apart.
 */
export function inOtherForm(
  changes: readonly ReferenceChange[],
  links: Pick<CachedLinks, 'alike' | 'seen'>,
): ReadonlySet<number> {
  const found = new Set<number>()
  for (const { ordinal, value, id } of changes) {
    const form = formOf(value)
    const seen = links.seen.get(form) ?? new Map(links.alike(value).map((one) => [one, true]))
    links.seen.set(form, seen)
    if (id === undefined) {
      seen.delete(value)
      continue
    }
    const isAlone = seen.size === Number(seen.has(value))
    const isToldApart = seen.get(value) === true && ![...seen.values()].includes(false)
    if (!isAlone && !isToldApart) found.add(ordinal)
    if (!seen.has(value)) seen.set(value, false)
  }
  return found
}

/** Sets of nodes, at first one for each node. All nodes of a set have the same root. */
function createUnions() {
  const parents = new Map<string, string>()
  return {
    /** Makes one set of the sets of two nodes. */
    join(a: string, b: string): void {
      const [rootA, rootB] = [rootOf(a), rootOf(b)]
      if (rootA !== rootB) parents.set(rootA, rootB)
    },
    rootOf,
  }

  function rootOf(node: string): string {
    let root = node
    for (let parent = parents.get(root); parent !== undefined; parent = parents.get(root))
      root = parent
    // A second lookup is fast.
    for (let at = node; at !== root; ) {
      const next = parents.get(at) ?? root
      parents.set(at, root)
      at = next
    }
    return root
  }
}

function ofValue(value: string): string {
  return `value ${value}`
}

function ofId(id: string): string {
  return `id ${id}`
}
