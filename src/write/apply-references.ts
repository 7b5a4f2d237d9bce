import { withoutValues } from '../ground/mask.ts'
import { foldedMost } from '../ground/text.ts'
import { statusIs } from '../http/status.ts'
import { refusalOf, type Verdict } from './outcome.ts'
import {
  planReferences,
  type ReferenceChange,
  type ReferenceDelete,
  type ReferencePut,
} from './plan-references.ts'
import {
  type CachedLinks,
  type Claim,
  changesOf,
  differInForm,
  type FoundReference,
  lookUpReference,
} from './service-cache.ts'
import { groupBy, type TaskPool } from './task-pool.ts'
import type { WriteClient } from './write-client.ts'

/** The tools to apply changes of one name of one collection. */
export interface ReferenceTools {
  readonly client: WriteClient
  readonly collection: string
  readonly name: string
  readonly links: CachedLinks
  readonly pool: TaskPool
  readonly relink: boolean
  readonly isDryRun: boolean
  /** Called once for each record, when its verdict is final. */
  readonly settle: (ordinal: number, verdict: Verdict) => void
}

type PutOfRecord = ReferencePut & { readonly ordinal: number }

/**
 * Applies changes of one name of one collection, in independent groups: a killed run leaves at most as many
 * of them half done as there are parallel requests.
 */
export async function applyReferences(
  changes: readonly ReferenceChange[],
  tools: ReferenceTools,
): Promise<void> {
  const { links, pool } = tools
  const groups = independentChanges(changes, links)
  // If the links are not listed, it is not known whether groups are independent: then they run one after
  // another.
  const rounds = links.isComplete ? [groups] : groups.map((group) => [group])
  for (const round of rounds) await pool.each(round, (group) => applyGroup(group, tools))
}

/**
 * Plans, requests all deletes and then all puts, one after another, and plans again without the refused
 * records. So a link that was deleted for a refused record is restored. Before a link is deleted for a
 * record, the service is asked to put the record: if it refuses for another reason than the link, such as a
 * missing record, nothing is deleted.
 */
async function applyGroup(
  asGiven: readonly ReferenceChange[],
  tools: ReferenceTools,
): Promise<void> {
  const { client, collection, name, links } = tools
  let changes = asGiven
  // Links that are discovered belong to this group: another group may have changed them meanwhile.
  const start = changesOf(links)
  const current = changesOf(start)
  const deletions = new Set(changes.filter(({ id }) => id === undefined).map((c) => c.ordinal))
  const verdicts = new Map<number, Verdict>()
  const refused = new Set<number>()
  /** Records whose put was requested at least once. */
  const asked = new Set<number>()
  /** Records whose value was read because it turned out to be different from what was known. */
  const reread = new Set<number>()
  /**
   * Records whose value differs only in case or spaces from one that the service treats as equal.
   */
  const respelled = new Set<number>()
  /** Values that were read because another one of the input differs only in case or spaces. */
  const askedInForm = new Set<string>()
  /** See `CachedLinks.claims`; those of this group. */
  let claims = new Map<string, readonly Claim[]>()
  /** The record for which each value lost its link. */
  const lostFor = new Map<string, number>()
  let isDone = false
  if (links.foldsMore) respell(links.spelled)
  else refuseContradictions()
  try {
    await askForForm()
    while (!isDone) {
      await round()
      if (isDone) await askForForm()
    }
    for (const [ordinal, verdict] of verdicts) settle(ordinal, verdict)
  } catch (error) {
    // Requested changes are done; the next run decides about the others.
    for (const [ordinal, verdict] of verdicts) if (isWritten(ordinal)) settle(ordinal, verdict)
    throw error
  } finally {
    current.commit()
    start.commit()
    for (const [key, claim] of claims) links.claims.set(key, claim)
  }

  function settle(ordinal: number, verdict: Verdict): void {
    tools.settle(ordinal, respelled.has(ordinal) ? { ...verdict, folded: true } : verdict)
  }

  async function round(): Promise<void> {
    const remaining = changes.filter(({ ordinal }) => !refused.has(ordinal))
    const plan = planReferences({ ...tools, start, current, changes: remaining })
    for (const [ordinal, verdict] of plan.settled) {
      const former = isWritten(ordinal) ? verdicts.get(ordinal) : undefined
      if (former === undefined) verdicts.set(ordinal, verdict)
      else if (verdict.replaced) verdicts.set(ordinal, { ...former, replaced: true })
    }
    const unasked = tools.isDryRun ? [] : plan.puts.filter(isUnasked)
    for (const one of unasked) await ask(one)
    // The answers may change what has to be deleted.
    isDone = unasked.length === 0
    if (!isDone) return
    for (const one of plan.deletes) await remove(one)
    for (const one of plan.puts) await put(one)
    // A dry run cannot get the service's own message.
    if (!tools.isDryRun) for (const one of plan.refusals) await put(one)
  }

  function isUnasked(put: ReferencePut): put is PutOfRecord {
    return put.isRelink && put.ordinal !== undefined && !asked.has(put.ordinal)
  }

  async function ask(change: PutOfRecord): Promise<void> {
    const { value, id, ordinal } = change
    asked.add(ordinal)
    try {
      if (await link(value, id)) verdicts.set(ordinal, written(change))
    } catch (error) {
      const refusal = redacted(refusalOf(error), [value, current.valueOfId(id)])
      if (!statusIs(refusal.status, 'linked')) refuse(ordinal, refusal)
    }
  }

  async function remove({ value, ordinal }: ReferenceDelete): Promise<void> {
    try {
      const outcome = await client.references.remove(collection, name, value)
      current.unlink(value)
      if (ordinal === undefined) return
      lostFor.set(value, ordinal)
      if (deletions.has(ordinal)) verdicts.set(ordinal, { outcome })
    } catch (error) {
      if (ordinal !== undefined) refuse(ordinal, refusalOf(error))
      else throw error
    }
  }

  async function put(change: ReferencePut): Promise<void> {
    const { value, id, ordinal } = change
    // Its delete was refused.
    if (ordinal !== undefined && refused.has(ordinal)) return
    if (ordinal !== undefined) asked.add(ordinal)
    try {
      const isLinked = await link(value, id)
      if (isLinked && ordinal !== undefined) verdicts.set(ordinal, written(change))
    } catch (error) {
      const refusal = redacted(refusalOf(error), [value, current.valueOfId(id)])
      if (ordinal === undefined) giveUp(value)
      else if (statusIs(refusal.status, 'missing') || !(await hasChanged(value, ordinal)))
        refuse(ordinal, refusal)
    }
  }

  /**
   * Puts a reference; false if the service has kept the record's old value, because it differs only in case
   * or spaces.
   */
  async function link(value: string, id: string): Promise<boolean> {
    const former = current.valueOfId(id)
    await client.references.put({ collection, name, value, internalReference: id })
    if (former !== undefined && differInForm(former, value)) {
      const found = await lookUp(value)
      if (found !== 'unanswered' && found?.value === former) {
        treatAsEqual(former, value)
        return false
      }
    }
    current.link(value, id)
    return true
  }

  /**
   * Reads a value that is not linked, if a linked one differs only in case or spaces and the input has both:
   * the service may treat them as the same.
   */
  async function askForForm(): Promise<void> {
    for (const group of groupBy(changes, ({ value }) => foldedMost(value))) {
      const values = group.map(({ value }) => value)
      const linked = values.find((value) => current.idOf(value) !== undefined)
      const other = values.find(
        (value) => current.idOf(value) === undefined && current.isKnown(value),
      )
      if (linked === undefined || other === undefined || askedInForm.has(other)) continue
      askedInForm.add(other)
      const found = await lookUp(other)
      if (found !== 'unanswered' && found !== undefined && found.id === current.idOf(linked))
        treatAsEqual(linked, other)
    }
  }

  /**
   * The service has shown that it treats the other value as equal; so it does for all that differ in the same
   * way.
   */
  function treatAsEqual(value: string, other: string): void {
    links.treatAsEqual(value, other)
    respell((one) => (links.fold(one) === links.fold(value) ? value : one))
    isDone = false
  }

  function respell(spelled: (value: string) => string): void {
    changes = changes.map((change) => {
      const value = spelled(change.value)
      if (value !== change.value) respelled.add(change.ordinal)
      return { ...change, value }
    })
    refuseContradictions()
  }

  /**
   * Two records with different ids, and with texts that the service treats as one value, would take the value
   * from each other in every run: the earlier one keeps it, also if it was in another batch.
   */
  function refuseContradictions(): void {
    claims = new Map()
    for (const { ordinal, text, id } of changes) {
      const key = foldedMost(text)
      const known = claims.get(key) ?? links.claims.get(key) ?? []
      const claim = known.find((one) => links.fold(one.text) === links.fold(text))
      const isOfOther = claim?.id !== undefined && claim.text !== text
      if (isOfOther && id !== undefined && claim.id !== id) refuse(ordinal, CONTRADICTION)
      else claims.set(key, [...known.filter((one) => one !== claim), { text, id }])
    }
  }

  /** Whether the value is linked to another record than was known: then the plan was wrong. */
  async function hasChanged(value: string, ordinal: number): Promise<boolean> {
    if (!tools.relink || reread.has(ordinal)) return false
    reread.add(ordinal)
    const found = await lookUp(value)
    if (found === 'unanswered') return false
    const id = found?.id
    if (id !== undefined && id === current.idOf(value)) return false
    const known = id === undefined ? undefined : current.valueOfId(id)
    const isInOtherForm = known !== undefined && differInForm(known, value)
    if (isInOtherForm) treatAsEqual(value, known)
    // A link that this run has made was not there before.
    const isOurs = isInOtherForm && id !== undefined && start.valueOfId(id) !== known
    // This run has freed the value. Otherwise it was linked when it was put, and somebody has removed the
    // link since.
    if (id === undefined && lostFor.has(value)) return false
    for (const view of isOurs ? [current] : [start, current]) {
      if (id === undefined) view.unlink(value)
      else view.link(value, id)
    }
    isDone = false
    return true
  }

  /** If not even that is answered, the refusal of the put counts. */
  function lookUp(value: string): Promise<FoundReference> {
    return lookUpReference(client, collection, name, value)
  }

  function refuse(ordinal: number, verdict: Verdict): void {
    refused.add(ordinal)
    verdicts.set(ordinal, verdict)
    isDone = false
  }

  /** The link that a refused record replaced could not be restored. */
  function giveUp(value: string): void {
    start.unlink(value)
    current.unlink(value)
    isDone = false
    const ordinal = lostFor.get(value)
    const verdict = ordinal === undefined ? undefined : verdicts.get(ordinal)
    if (ordinal === undefined || verdict?.outcome !== 'rejected') return
    const reason = `${verdict.reason ?? ''} The link that it replaced was deleted and could not be restored.`
    verdicts.set(ordinal, { ...verdict, reason })
  }

  /** Whether a request was made for the record: then later rounds have nothing to add. */
  function isWritten(ordinal: number): boolean {
    const outcome = verdicts.get(ordinal)?.outcome
    return outcome === 'written' || outcome === 'deleted'
  }
}

const CONTRADICTION: Verdict = {
  outcome: 'rejected',
  reason:
    'An earlier record of the input has this value in another form, which is the same for the service, but another internalReference. Leave out the one that is wrong.',
}

function written({ isRelink, takenFrom, replaces }: ReferencePut): Verdict {
  return {
    outcome: 'written',
    ...(isRelink && { relinked: true }),
    ...(takenFrom !== undefined && { takenFrom }),
    ...(replaces && { replaces }),
  }
}

/** The service's message may contain the value, and the record's old value. */
function redacted(verdict: Verdict, values: readonly (string | undefined)[]): Verdict {
  const known = values.filter((value) => value !== undefined)
  return { ...verdict, reason: withoutValues(verdict.reason ?? '', known) }
}

/**
 * The changes in groups that have no value and no record in common, neither in what they want nor in the old
 * links that they replace. Each group can be applied without the others.
 */
function independentChanges(
  changes: readonly ReferenceChange[],
  links: CachedLinks,
): ReferenceChange[][] {
  const parents = new Map<string, string>()
  for (const { value, id } of changes) {
    const [linkedId, otherValue] = [links.idOf(value), id && links.valueOfId(id)]
    // A service that ignores case or spaces treats them as one value, which only its answers show.
    join(ofValue(value), ofFolded(value))
    for (const alike of links.alike(value)) {
      join(ofValue(value), ofValue(alike))
      const idOfAlike = links.idOf(alike)
      if (idOfAlike !== undefined) join(ofValue(value), ofId(idOfAlike))
    }
    if (linkedId !== undefined) join(ofValue(value), ofId(linkedId))
    if (id !== undefined) join(ofValue(value), ofId(id))
    if (otherValue !== undefined) join(ofValue(value), ofValue(otherValue))
  }
  return groupBy(changes, ({ value }) => rootOf(ofValue(value)))

  function join(a: string, b: string): void {
    const [rootA, rootB] = [rootOf(a), rootOf(b)]
    if (rootA !== rootB) parents.set(rootA, rootB)
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

function ofFolded(value: string): string {
  return `folded ${foldedMost(value)}`
}

function ofId(id: string): string {
  return `id ${id}`
}
