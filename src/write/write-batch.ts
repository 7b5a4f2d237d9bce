import type { ConnectorError } from '../ground/errors.ts'
import { mostOf } from '../ground/limit.ts'
import { folded } from '../ground/text.ts'
import { applyJobCategories, type NamedChange } from './apply-job-categories.ts'
import { applyReferences, type ReferenceTools, restoreMoves } from './apply-references.ts'
import { applyWorkLocations } from './apply-work-locations.ts'
import { type InputKeys, tooManyTaken } from './input-keys.ts'
import type { ObjectTools } from './object-tools.ts'
import { type ObjectName, objects, type WriteRecord } from './objects.ts'
import { isOfObject, type OutcomeReporter, refusalOf, type Verdict } from './outcome.ts'
import { inOtherForm, type ReferenceChange, targetOf } from './plan-references.ts'
import {
  canonicalId,
  type NamedRules,
  readNamed,
  readReference,
  type WantedReference,
} from './read-record.ts'
import { createTaskPool, groupBy } from './task-pool.ts'
import type { WriteClient } from './write-client.ts'

/** Parallel requests, in addition to the limiter of the client. */
export const CONCURRENCY = 4

/** The reference, such as `@employee-number`, by which records name their targets in a collection instead of ids. */
export interface TargetReference {
  readonly collection: string
  readonly name: string
}

/** The tools to write a batch. */
export interface BatchTools extends Omit<ObjectTools, 'client' | 'pool' | 'settle'> {
  /** The client with which each object is written. */
  readonly clients: Readonly<Record<ObjectName, WriteClient>>
  readonly inputKeys: InputKeys
  readonly reporter: OutcomeReporter
  readonly by: TargetReference | undefined
  /** Objects that cannot be written; more are added when they turn out to be unwritable. */
  readonly failures: Map<ObjectName, ConnectorError>
}

type Key = Readonly<Record<string, string>>

/** Writes records, one object after another, and reports the outcome of each, in their order. */
export async function writeBatch(
  records: readonly WriteRecord[],
  tools: BatchTools,
): Promise<void> {
  for (const name of Object.keys(objects) as ObjectName[]) {
    const own = records.filter(({ object }) => object === name)
    if (own.length > 0) await writeObject(name, own, tools)
  }
}

async function writeObject(
  object: ObjectName,
  records: readonly WriteRecord[],
  tools: BatchTools,
): Promise<void> {
  const { failures, reporter } = tools
  const verdicts = new Map<number, Verdict>()
  const keys = new Map<number, Key>()
  const settle = (ordinal: number, verdict: Verdict) => void verdicts.set(ordinal, verdict)
  for (const { ordinal, fault } of records) {
    if (fault === undefined) continue
    settle(ordinal, { outcome: 'rejected', reason: fault })
    tools.inputKeys.addUnreadable()
  }
  const readable = records.filter(({ fault }) => fault === undefined)
  try {
    if (!failures.has(object)) {
      const client = tools.clients[object]
      const pool = createTaskPool(CONCURRENCY, tools.signal)
      await WRITE[object](readable, { ...tools, client, pool, settle, keys })
    }
  } catch (error) {
    if (!isOfObject(error)) throw error
    failures.set(object, error)
  } finally {
    const failure = failures.get(object)
    for (const { ordinal } of records) {
      const verdict = verdicts.get(ordinal) ?? (failure && rejectionBy(failure))
      if (verdict !== undefined) reporter.report(object, ordinal, keys.get(ordinal) ?? {}, verdict)
    }
  }
}

function rejectionBy({ message }: ConnectorError): Verdict {
  return { outcome: 'rejected', reason: message }
}

interface RecordTools extends BatchTools, ObjectTools {
  /** The key of each record, as far as it could be read. */
  readonly keys: Map<number, Key>
}

const WRITE: Readonly<
  Record<ObjectName, (records: readonly WriteRecord[], tools: RecordTools) => Promise<void>>
> = {
  external_references: writeReferences,
  job_categories(records, tools) {
    const { jobCategoryReference: reference } = tools.settings
    const setting = 'job_category_reference'
    const rules = { textField: 'externalCode', reference, setting } as const
    return applyJobCategories(namedChanges(records, tools, rules), tools)
  },
  work_locations(records, tools) {
    const { workLocationReference: reference } = tools.settings
    const setting = 'work_location_reference'
    const rules = { textField: 'description', reference, setting } as const
    return applyWorkLocations(namedChanges(records, tools, rules), tools)
  },
}

type Wanted = WantedReference & ReferenceChange

async function writeReferences(records: readonly WriteRecord[], tools: RecordTools): Promise<void> {
  if (!tools.settings.dryRun) await restoreMoves(tools.client, tools.cache, tools.journal)
  const wanted = await lookedUp(wantedReferences(records, tools), tools)
  const groups = groupBy(wanted, ({ collection, name }) =>
    JSON.stringify([collection, folded(name)]),
  )
  const ends = await Promise.allSettled(groups.map((group) => writeName(group, tools)))
  // All requests have ended now, including those of the other groups.
  for (const end of ends) if (end.status === 'rejected') throw end.reason
}

/** The references that the valid records want; all records are noted in the keys of the input. */
function wantedReferences(
  records: readonly WriteRecord[],
  { settle, keys, inputKeys, by }: RecordTools,
): Wanted[] {
  const all: Wanted[] = []
  for (const { data, isDelete, ordinal } of records) {
    const reading = readReference(data, isDelete, by?.collection)
    keys.set(ordinal, reading.key)
    const { collection, name, value } = reading.key
    if (collection === undefined || name === undefined || value === undefined)
      inputKeys.addUnreadable()
    else inputKeys.add(collection, name, isDelete ? undefined : value)
    if ('rejection' in reading) settle(ordinal, reading.rejection)
    else all.push({ ...reading.wanted, ordinal })
  }
  return all
}

/** The references with the ids of their targets; those whose target is not found are rejected. */
async function lookedUp(
  all: readonly Wanted[],
  { client, pool, by, settle }: RecordTools,
): Promise<Wanted[]> {
  const ids = new Map<number, string | undefined>()
  await pool.each(all, async ({ ordinal, collection, id, isByReference }) => {
    if (!isByReference) return void ids.set(ordinal, id)
    const { name = '' } = by ?? {}
    try {
      const found = await client.references.find(collection, name, id ?? '')
      if (found === undefined) settle(ordinal, notFound(collection, name))
      else ids.set(ordinal, canonicalId(collection, found))
    } catch (error) {
      settle(ordinal, refusalOf(error))
    }
  })
  return all.flatMap((one) => (ids.has(one.ordinal) ? [{ ...one, id: ids.get(one.ordinal) }] : []))
}

function notFound(collection: string, name: string): Verdict {
  return {
    outcome: 'rejected',
    status: 404,
    reason: `None of the ${collection} has this ${name}.`,
  }
}

/** Writes the references of one name of one collection, unless a mirror must not. */
async function writeName(group: readonly Wanted[], tools: RecordTools): Promise<void> {
  const { settle, inputKeys, cache } = tools
  const { mirror } = tools.settings
  const [{ collection, name }] = group as [Wanted, ...Wanted[]]
  const links = await cache.links(collection, name)
  const all = group.map((change) => ({ ...change, value: links.spelled(change.value) }))
  const others = inOtherForm(all, links)
  for (const ordinal of others) settle(ordinal, IN_OTHER_FORM)
  // A mirror counts what it removes, and needs the list for that.
  const relink = tools.settings.relink && (!mirror || links.isComplete)
  const isBarred = ({ id }: Wanted) => id !== undefined && !relink && links.isUnreadable
  for (const one of all) if (isBarred(one)) settle(one.ordinal, NOT_LISTED)
  const changes = all.filter((one) => !others.has(one.ordinal) && !isBarred(one))
  const own = { ...tools, settings: { ...tools.settings, relink }, links, collection, name }
  const refusal = mirror ? refusalOfMirror(changes, own) : undefined
  if (refusal !== undefined) inputKeys.refuse(refusal)
  if (refusal !== undefined && !own.settings.dryRun) {
    for (const { ordinal } of changes) settle(ordinal, notMirrored(refusal))
    return
  }
  await applyReferences(changes, own)
}

const IN_OTHER_FORM: Verdict = {
  outcome: 'rejected',
  reason:
    'The service, or another record of the input, has this value in another form: the two differ only in case or in spaces. Write it in one form, or delete the other one first.',
}

const NOT_LISTED: Verdict = {
  outcome: 'rejected',
  reason:
    'The list of the references cannot be read, so the record may have another value under this name, which must not be replaced.',
}

function notMirrored(refusal: string): Verdict {
  return {
    outcome: 'rejected',
    reason: `Nothing was changed under this name, because the input is to be mirrored: ${refusal}.`,
  }
}

/**
 * Why a mirror must not make the changes of one name: too many of its links would be removed or moved.
 */
function refusalOfMirror(
  changes: readonly ReferenceChange[],
  { links, collection, name, settings: { relink, maxDeletes } }: ReferenceTools,
): string | undefined {
  const taken = links.takenAfter(targetOf({ start: links, changes, relink }))
  if (taken <= mostOf(links.initialSize, maxDeletes)) return undefined
  return tooManyTaken(taken, links, `${collection}, ${name}`, maxDeletes)
}

function namedChanges(
  records: readonly WriteRecord[],
  { settle, keys }: RecordTools,
  rules: NamedRules,
): NamedChange[] {
  return records.flatMap(({ data, isDelete, ordinal }) => {
    const reading = readNamed(data, rules)
    if ('rejection' in reading) {
      settle(ordinal, reading.rejection)
      return []
    }
    keys.set(ordinal, reading.wanted.key)
    if (!isDelete) return [{ ordinal, wanted: reading.wanted }]
    settle(ordinal, UNDELETABLE)
    return []
  })
}

const UNDELETABLE: Verdict = {
  outcome: 'rejected',
  reason: 'This API cannot delete it: only external references can be deleted.',
}
