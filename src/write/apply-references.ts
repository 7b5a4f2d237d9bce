import { type CallOptions, LATE_MS } from '../client/service-client.ts'
import { statusIs } from '../http/status.ts'
import type { Journal, Move } from './journal.ts'
import type { ObjectTools } from './object-tools.ts'
import { ObjectRefusal, refusalOf, type Verdict } from './outcome.ts'
import {
  independentChanges,
  planReferences,
  type ReferenceChange,
  type ReferenceDelete,
  type ReferencePlan,
  type ReferencePut,
} from './plan-references.ts'
import {
  commit,
  createReferenceGroup,
  type GroupRecord,
  isWritten,
  noteLink,
  noteSettled,
  type ReferenceGroup,
  refuse,
  remainingOf,
} from './reference-group.ts'
import {
  type CachedLinks,
  type FoundReference,
  lookUpReference,
  type ServiceCache,
} from './service-cache.ts'
import type { WriteClient } from './write-client.ts'

/** The tools to apply changes of one name of one collection. */
export interface ReferenceTools extends ObjectTools {
  readonly collection: string
  readonly name: string
  readonly links: CachedLinks
}

/**
 * Applies changes of one name of one collection, in independent groups: a killed run leaves at most as many
 * of them half done as there are parallel requests. What was not answered with certainty is read at the end.
 */
export async function applyReferences(
  changes: readonly ReferenceChange[],
  tools: ReferenceTools,
): Promise<void> {
  const { links, pool, time, signal } = tools
  const groups = independentChanges(changes, links).map((one) => createReferenceGroup(one, links))
  // If the links are not listed, it is not known whether groups are independent: then they run one after
  // another.
  const rounds = links.isComplete ? [groups] : groups.map((group) => [group])
  for (const round of rounds) await pool.each(round, (group) => applyGroup(group, tools))
  const uncertain = groups.filter(({ isUncertain }) => isUncertain)
  if (uncertain.length === 0) return
  await time.sleep(LATE_MS, signal)
  await pool.each(uncertain, (group) => readBack(group, tools))
}

/**
 * Plans, requests all deletes and then all puts, one after another, and plans again without the refused
 * records. So a link that was deleted for a refused record is restored.
 */
async function applyGroup(group: ReferenceGroup, tools: ReferenceTools): Promise<void> {
  const records = [...group.records.values()]
  const moves: Move[] = []
  try {
    do {
      group.isPlanOutdated = false
      await applyPlan(group, moves, tools)
    } while (group.isPlanOutdated)
    for (const move of moves) await tools.journal.remove(move)
    if (!group.isUncertain) settle(records, tools)
  } catch (error) {
    // Requested changes are done; the next run decides about the others.
    const isFinal = (record: GroupRecord) => record.isRefused || isWritten(record)
    if (!group.isUncertain) settle(records.filter(isFinal), tools)
    throw error
  } finally {
    commit(group)
  }
}

function settle(records: readonly GroupRecord[], tools: ReferenceTools): void {
  for (const { ordinal, verdict } of records)
    if (verdict !== undefined) tools.settle(ordinal, verdict)
}

/** Makes a plan from what is known, and requests what it says. */
async function applyPlan(
  group: ReferenceGroup,
  moves: Move[],
  tools: ReferenceTools,
): Promise<void> {
  const { start, current } = group
  const { relink, dryRun: isDryRun } = tools.settings
  const plan = planReferences({ start, current, changes: remainingOf(group), relink })
  noteSettled(group, plan.settled)
  if (!isDryRun) {
    await askBeforeDeleting(plan, group, tools)
    if (group.isPlanOutdated) return
    await prepareMoves(plan, group, moves, tools)
    if (group.isPlanOutdated) return
  }
  for (const one of plan.deletes) await requestDelete(one, group, tools)
  for (const one of plan.puts) await requestPut(one, group, tools)
  // A dry run cannot get the service's own message.
  if (!isDryRun) for (const one of plan.refusals) await requestPut(one, group, tools)
}

/**
 * Puts the records that replace another link, once each, before that link is deleted. If the service refuses one for
 * another reason than the link, such as a missing record, nothing is deleted for it.
 */
async function askBeforeDeleting(
  { puts }: ReferencePlan,
  group: ReferenceGroup,
  tools: ReferenceTools,
): Promise<void> {
  for (const put of puts) {
    const record = recordOf(put.ordinal, group)
    if (!put.isRelink || record === undefined || record.isAsked) continue
    group.isPlanOutdated = true
    const refusal = await tryToPut(put, group, tools)
    if (refusal !== undefined && !statusIs(refusal.status, 'linked')) refuse(group, record, refusal)
  }
}

/**
 * Nothing is deleted that is not known to be restorable: each link that makes room for another one is put as it is
 * before, and noted in the journal. If the service refuses that, the record is refused.
 */
async function prepareMoves(
  { deletes, puts }: ReferencePlan,
  group: ReferenceGroup,
  moves: Move[],
  { client, collection, name, journal }: ReferenceTools,
): Promise<void> {
  const old: [string, string][] = []
  for (const { value, ordinal } of deletes) {
    const record = recordOf(ordinal, group)
    const id = group.current.idOf(value)
    if (id === undefined || (record?.id === undefined && record?.value === value)) continue
    if (!group.restorable.has(value)) await putAsItIs(value, id, record)
    if (group.restorable.get(value)) old.push([value, id])
  }
  if (old.length === 0 || group.isPlanOutdated) return
  const wanted = puts.map(({ value, id }) => [value, id] as const)
  const move: Move = { kind: 'move', collection, name, old, wanted }
  moves.push(move)
  await journal.add(move)

  async function putAsItIs(value: string, id: string, record: GroupRecord | undefined) {
    try {
      const link = { collection, name, value, internalReference: id }
      await client.references.put(link, uncertainIn(group))
      group.restorable.set(value, true)
    } catch (error) {
      const { reason, ...verdict } = refusalOf(error)
      // The link leads to a record that is gone: nobody needs it.
      if (statusIs(verdict.status, 'missing')) return void group.restorable.set(value, false)
      if (record === undefined) throw notRestorable(journal)
      const why = `The service does not accept the link that this record replaces, so it could not be restored, and nothing was deleted: ${reason}`
      refuse(group, record, { ...verdict, reason: why })
    }
  }
}

async function requestDelete(
  { value, ordinal }: ReferenceDelete,
  group: ReferenceGroup,
  tools: ReferenceTools,
): Promise<void> {
  const { client, collection, name, links } = tools
  const record = recordOf(ordinal, group)
  const isWanted = record !== undefined && record.id === undefined
  const wasListed = group.current.idOf(value) !== undefined
  if (isWanted) record.isAsked = true
  try {
    const isAbsent =
      tools.settings.dryRun && !wasListed && (await lookUp(value, tools)) === undefined
    const outcome = isAbsent
      ? 'absent'
      : await client.references.remove(collection, name, value, uncertainIn(group))
    group.current.unlink(value)
    if (record !== undefined) group.lostFor.set(value, record)
    if (isWanted) record.verdict = { outcome }
    // The service may have deleted a value that it lists in another form.
    if (outcome === 'absent' || wasListed || tools.settings.dryRun) return
    for (const other of links.alike(value)) await lookAgain(other, group, tools)
  } catch (error) {
    if (record === undefined) throw error
    refuse(group, record, refusalOf(error))
  }
}

async function requestPut(
  put: ReferencePut,
  group: ReferenceGroup,
  tools: ReferenceTools,
): Promise<void> {
  const record = recordOf(put.ordinal, group)
  // Its delete was refused.
  if (record?.isRefused) return
  const refusal = await tryToPut(put, group, tools)
  if (refusal === undefined) return
  if (record === undefined) {
    // Somebody else may have linked it meanwhile.
    if (await lookAgain(put.value, group, tools)) return
    return giveUp(put.value, group, tools)
  }
  const isMissing = statusIs(refusal.status, 'missing')
  if (!isMissing && (await wasPlanWrong(put.value, record, group, tools))) return
  // Known if relink is off: the service's own words may be hidden.
  const known = record.verdict?.outcome === 'rejected' ? `${record.verdict.reason} ` : ''
  refuse(group, record, { ...refusal, reason: `${known}${refusal.reason}` })
}

/** Requests a put, and notes its success. Returns the refusal of the service; undefined if there is none. */
async function tryToPut(
  put: ReferencePut,
  group: ReferenceGroup,
  { client, collection, name }: ReferenceTools,
): Promise<Verdict | undefined> {
  const { value, id } = put
  const record = recordOf(put.ordinal, group)
  if (record !== undefined) record.isAsked = true
  try {
    const reference = { collection, name, value, internalReference: id }
    await client.references.put(reference, uncertainIn(group))
    group.current.link(value, id)
    if (record !== undefined) record.verdict = written(put)
    return undefined
  } catch (error) {
    return refusalOf(error)
  }
}

/** A link that a refused record replaced is deleted and cannot be put again: no further one may be lost. */
function giveUp(value: string, group: ReferenceGroup, { journal }: ReferenceTools): void {
  const record = group.lostFor.get(value)
  if (record?.verdict?.outcome === 'rejected') {
    const reason = `${record.verdict.reason ?? ''} The link that it replaced was deleted and could not be restored.`
    record.verdict = { ...record.verdict, reason }
  }
  if (group.restorable.get(value) !== false) throw notRestorable(journal)
  for (const view of [group.start, group.current]) view.unlink(value)
  group.isPlanOutdated = true
}

function notRestorable({ path }: Journal): ObjectRefusal {
  const where = path === undefined ? '' : ` It is in the journal ${path}.`
  return new ObjectRefusal(
    'system',
    'links-not-restored',
    `The service does not accept a link again that was deleted to make room for another one, so no more references are written.${where} Start again when the service accepts references: the next run restores it first.`,
  )
}

/**
 * After a refused put, reads once per record whether the value is linked to another record than was known. If
 * not even that is answered, the refusal counts.
 */
async function wasPlanWrong(
  value: string,
  record: GroupRecord,
  group: ReferenceGroup,
  tools: ReferenceTools,
): Promise<boolean> {
  if (!tools.settings.relink || record.isReread) return false
  record.isReread = true
  return lookAgain(value, group, tools)
}

async function lookAgain(
  value: string,
  group: ReferenceGroup,
  tools: ReferenceTools,
): Promise<boolean> {
  const found = await lookUp(value, tools)
  return found !== 'unanswered' && noteLink(group, value, found?.id)
}

function lookUp(
  value: string,
  { client, collection, name }: Pick<ReferenceTools, 'client' | 'collection' | 'name'>,
): Promise<FoundReference> {
  return lookUpReference(client, collection, name, value)
}

/** Reads all links of a group again: one of its own requests may have undone what a later one did. */
async function readBack(group: ReferenceGroup, tools: ReferenceTools): Promise<void> {
  const { links } = tools
  const records = [...group.records.values()]
  const undone = new Set<GroupRecord>()
  for (const value of new Set([...records.map(({ value }) => value), ...group.start.changed()])) {
    const expected = links.idOf(value)
    const found = await lookUp(value, tools)
    const id = found === 'unanswered' ? undefined : found?.id
    if (found !== 'unanswered' && id === expected) continue
    for (const record of records)
      if (record.value === value || [id, expected].includes(record.id ?? '')) undone.add(record)
    if (id === undefined) links.unlink(value)
    else links.link(value, id)
  }
  for (const record of undone) if (!record.isRefused) record.verdict = UNDONE
  settle(records, tools)
}

const UNDONE: Verdict = {
  outcome: 'unknown',
  reason:
    'The service did not confirm a request for this value, and has another link now than was requested last. Write the record again later.',
}

/**
 * Restores what an earlier run has deleted and not replaced: the old link, or if its record has a new value already,
 * the wanted one. Throws an ObjectRefusal if the service does not accept it.
 */
export async function restoreMoves(
  client: WriteClient,
  cache: ServiceCache,
  journal: Journal,
): Promise<void> {
  for (const move of journal.entries) {
    if (move.kind !== 'move') continue
    const { collection, name, old, wanted } = move
    const links = await cache.links(collection, name)
    const present = new Map<string, string | undefined>()
    const holderOf = async (value: string) => {
      const found = await lookUp(value, { client, collection, name })
      if (found === 'unanswered') throw notRestorable(journal)
      return found?.id
    }
    for (const [value] of [...old, ...wanted]) present.set(value, await holderOf(value))
    const isFree = (id: string | undefined) =>
      id !== undefined && ![...present.values()].includes(id) && links.valueOfId(id) === undefined
    for (const [value, id] of old) {
      const target = [id, new Map(wanted).get(value)].find(isFree)
      if (present.get(value) !== undefined || target === undefined) continue
      const reference = { collection, name, value, internalReference: target }
      await client.references.put(reference).catch(async (error: unknown) => {
        const { status } = refusalOf(error)
        // Nobody needs a link to a record that is gone. A service without a list may answer everything with 404.
        if (statusIs(status, 'missing') && links.isComplete) return
        // The wanted link may be refused as before, and somebody else may have linked the value since.
        if (target === id && (await holderOf(value)) === undefined) throw notRestorable(journal)
      })
      present.set(value, target)
    }
    cache.forget(collection, name)
    await journal.remove(move)
  }
}

/** The record for which a request is made; undefined if it undoes what a refused record started. */
function recordOf(
  ordinal: number | undefined,
  { records }: ReferenceGroup,
): GroupRecord | undefined {
  return ordinal === undefined ? undefined : records.get(ordinal)
}

function uncertainIn(group: ReferenceGroup): CallOptions {
  return {
    onUncertain: () => {
      group.isUncertain = true
    },
  }
}

function written({ isRelink, takenFrom, replaces }: ReferencePut): Verdict {
  return {
    outcome: 'written',
    ...(isRelink && { relinked: true }),
    ...(takenFrom !== undefined && { takenFrom }),
    ...(replaces && { replaces }),
  }
}
