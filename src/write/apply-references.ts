import { withoutValues } from '../ground/mask.ts'
import { foldedMost } from '../ground/text.ts'
import { statusIs } from '../http/status.ts'
import { refusalOf, type Verdict } from './outcome.ts'
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
  giveUp,
  isWritten,
  noteLink,
  noteSettled,
  type ReferenceGroup,
  refuse,
  remainingOf,
  treatAsEqual,
  verdictOf,
} from './reference-group.ts'
import {
  type CachedLinks,
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
  changes: readonly ReferenceChange[],
  tools: ReferenceTools,
): Promise<void> {
  const group = createReferenceGroup(changes, tools.links)
  const records = [...group.records.values()]
  try {
    await askForForm(group, tools)
    do {
      group.isPlanOutdated = false
      await applyPlan(group, tools)
      if (!group.isPlanOutdated) await askForForm(group, tools)
    } while (group.isPlanOutdated)
    settle(records, tools)
  } catch (error) {
    // Requested changes are done; the next run decides about the others.
    settle(records.filter(isWritten), tools)
    throw error
  } finally {
    commit(group)
  }
}

function settle(records: readonly GroupRecord[], tools: ReferenceTools): void {
  for (const record of records) {
    const verdict = verdictOf(record)
    if (verdict !== undefined) tools.settle(record.ordinal, verdict)
  }
}

/** Makes a plan from what is known, and requests what it says. */
async function applyPlan(group: ReferenceGroup, tools: ReferenceTools): Promise<void> {
  const { start, current } = group
  const { relink, isDryRun } = tools
  const plan = planReferences({ start, current, changes: remainingOf(group), relink })
  noteSettled(group, plan.settled)
  if (!isDryRun) await askBeforeDeleting(plan, group, tools)
  if (group.isPlanOutdated) return
  for (const one of plan.deletes) await requestDelete(one, group, tools)
  for (const one of plan.puts) await requestPut(one, group, tools)
  // A dry run cannot get the service's own message.
  if (!isDryRun) for (const one of plan.refusals) await requestPut(one, group, tools)
}

/**
 * Puts the records that replace another link, once each, before that link is deleted. The answers may change what has
 * to be deleted.
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

async function requestDelete(
  { value, ordinal }: ReferenceDelete,
  group: ReferenceGroup,
  { client, collection, name }: ReferenceTools,
): Promise<void> {
  const record = recordOf(ordinal, group)
  try {
    const outcome = await client.references.remove(collection, name, value)
    group.current.unlink(value)
    if (record === undefined) return
    group.lostFor.set(value, record)
    if (record.id === undefined) record.verdict = { outcome }
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
  if (record === undefined) giveUp(group, put.value)
  else if (
    statusIs(refusal.status, 'missing') ||
    !(await wasPlanWrong(put.value, record, group, tools))
  )
    refuse(group, record, refusal)
}

/** Requests a put, and notes its success. Returns the refusal of the service; undefined if there is none. */
async function tryToPut(
  put: ReferencePut,
  group: ReferenceGroup,
  tools: ReferenceTools,
): Promise<Verdict | undefined> {
  const record = recordOf(put.ordinal, group)
  if (record !== undefined) record.isAsked = true
  try {
    const isLinked = await link(put, group, tools)
    if (isLinked && record !== undefined) record.verdict = written(put)
    return undefined
  } catch (error) {
    return redacted(refusalOf(error), [put.value, group.current.valueOfId(put.id)])
  }
}

/**
 * Puts a reference; false if the service has kept the record's old value, because it differs only in case
 * or spaces.
 */
async function link(
  { value, id }: ReferencePut,
  group: ReferenceGroup,
  tools: ReferenceTools,
): Promise<boolean> {
  const { client, collection, name } = tools
  const former = group.current.valueOfId(id)
  await client.references.put({ collection, name, value, internalReference: id })
  if (former !== undefined && differInForm(former, value)) {
    const found = await lookUp(value, tools)
    if (found !== 'unanswered' && found?.value === former) {
      treatAsEqual(group, former, value)
      return false
    }
  }
  group.current.link(value, id)
  return true
}

/**
 * Reads a value that is not linked, if a linked one differs only in case or spaces and the input has both:
 * the service may treat them as the same.
 */
async function askForForm(group: ReferenceGroup, tools: ReferenceTools): Promise<void> {
  const { records, current, askedInForm } = group
  for (const alike of groupBy([...records.values()], ({ value }) => foldedMost(value))) {
    const values = alike.map(({ value }) => value)
    const linked = values.find((value) => current.idOf(value) !== undefined)
    const other = values.find(
      (value) => current.idOf(value) === undefined && current.isKnown(value),
    )
    if (linked === undefined || other === undefined || askedInForm.has(other)) continue
    askedInForm.add(other)
    const found = await lookUp(other, tools)
    if (found !== 'unanswered' && found !== undefined && found.id === current.idOf(linked))
      treatAsEqual(group, linked, other)
  }
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
  if (!tools.relink || record.isReread) return false
  record.isReread = true
  const found = await lookUp(value, tools)
  return found !== 'unanswered' && noteLink(group, value, found?.id)
}

function lookUp(
  value: string,
  { client, collection, name }: ReferenceTools,
): Promise<FoundReference> {
  return lookUpReference(client, collection, name, value)
}

/** The record for which a request is made; undefined if it undoes what a refused record started. */
function recordOf(
  ordinal: number | undefined,
  { records }: ReferenceGroup,
): GroupRecord | undefined {
  return ordinal === undefined ? undefined : records.get(ordinal)
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
