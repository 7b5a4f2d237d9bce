import type { WriteSettings } from '../config/write-settings.ts'
import type { ConnectorError } from '../ground/errors.ts'
import {
  isJsonObject,
  repeatedMember,
  repeatedMemberMessage,
  tryParseExactly,
} from '../ground/json.ts'
import { readProjectJson } from '../ground/project-files.ts'
import { nearest } from '../ground/text.ts'
import { REAL_TIME, type Time } from '../http/clock.ts'
import type { JsonSchema } from '../records/stream-spec.ts'
import { createInputKeys, type Surplus } from './input-keys.ts'
import { createJournal, type Journal } from './journal.ts'
import { type ObjectName, objects, type WriteRecord } from './objects.ts'
import { createOutcomeReporter, type Outcome, type OutcomeSummary, refusalOf } from './outcome.ts'
import { createServiceCache } from './service-cache.ts'
import { createTaskPool } from './task-pool.ts'
import { CONCURRENCY, type TargetReference, writeBatch } from './write-batch.ts'
import { createObjectClient, type WriteClient } from './write-client.ts'

/** Writes records in the order in which they are added; calls must not overlap. */
export interface Writer {
  /**
   * Accepts one record. Its members may have any spelling that databases give their columns
   * (`internal_reference`, `INTERNALREFERENCE`). May wait until others are written. Its outcome is reported
   * at the latest before `flush` resolves. Throws a ConnectorError if everything has to stop.
   */
  add(record: WriteRecord): Promise<void>
  /** Resolves when every added record has its final outcome. Throws like `add`. */
  flush(): Promise<void>
  /**
   * Deletes the references that are not among the records of an object, in the collections and under the names that
   * the records mention. Call it after all records were added. Throws a config error, and deletes nothing, if the run
   * would remove or move more references of one name than `max_deletes` allows, or if a record could not be read. A
   * dry run reports what would be deleted. Needs `mirror` in the settings.
   */
  mirror(object: ObjectName): Promise<void>
  readonly summary: WriteSummary
}

/** The counts of a writer so far. */
interface WriteSummary extends OutcomeSummary {
  /**
   * Objects that cannot be written, for example because of a missing scope. Their records are rejected with
   * this reason: a state that follows them must not be confirmed.
   */
  readonly failures: ReadonlyMap<ObjectName, ConnectorError>
}

/** The options of a writer. */
export interface WriterOptions {
  readonly client: WriteClient
  readonly settings: WriteSettings
  /** Called once for each record, by batch, and once for each deletion of the mirror. */
  readonly onOutcome: (outcome: Outcome) => void
  readonly signal: AbortSignal
  /** See `openObject`; by default it ends with the process. */
  readonly journal?: Journal
  /** For the waits until late effects of requests are over. */
  readonly time?: Pick<Time, 'sleep'>
  readonly by?: TargetReference | undefined
  /** Whether outcomes show values of external references, which may identify people. */
  readonly showValues?: boolean
  /** This many records are planned together: more would need more memory and be no faster. */
  readonly batchSize?: number
  /**
   * Called once for each unknown member; by default, records with an unknown member are rejected.
   */
  readonly onUnknownMember?: (object: ObjectName, words: string) => void
}

const BATCH_SIZE = 1000

/** Creates a writer. The service's data is read once, when it is first needed. */
export function createWriter(options: WriterOptions): Writer {
  const { settings, signal, batchSize = BATCH_SIZE, onUnknownMember } = options
  const { journal = createJournal(), time = REAL_TIME } = options
  const own = () => createObjectClient(options.client, settings.dryRun)
  const clients = { external_references: own(), job_categories: own(), work_locations: own() }
  const cache = createServiceCache(options.client)
  const inputKeys = createInputKeys(settings.maxDeletes)
  const failures = new Map<ObjectName, ConnectorError>()
  const reporter = createOutcomeReporter({ ...options, isDryRun: settings.dryRun })
  const { by } = options
  const tools = {
    ...{ clients, settings, cache, inputKeys, reporter, journal, time, signal, failures, by },
  }
  const toldMembers = new Set<string>()
  let batch: WriteRecord[] = []
  return {
    async add(record) {
      batch.push(named(record))
      if (batch.length >= batchSize) await flush()
    },
    flush,
    mirror,
    summary: { ...reporter.summary, failures },
  }

  function named(record: WriteRecord): WriteRecord {
    if (record.fault !== undefined) return record
    const reading = withNames(record.data, record.object)
    if ('fault' in reading) return { ...record, fault: reading.fault }
    const { data } = reading
    const unknown = unknownMembers(data, record.object)
    if (unknown.length === 0) return { ...record, data }
    if (onUnknownMember === undefined) return { ...record, fault: unknownInWords(unknown) }
    const untold = unknown.filter(({ name }) => !toldMembers.has(`${record.object} ${name}`))
    for (const { name } of untold) toldMembers.add(`${record.object} ${name}`)
    if (untold.length > 0) onUnknownMember(record.object, unknownInWords(untold))
    return { ...record, data }
  }

  async function flush(): Promise<void> {
    const records = batch
    batch = []
    await writeBatch(records, tools)
  }

  async function mirror(object: ObjectName): Promise<void> {
    if (!settings.mirror) throw new Error('The writer was not made for a mirror.')
    await flush()
    if (object !== 'external_references' || failures.has(object)) return
    const { surplus, refusal } = await inputKeys.surplus(cache)
    if (refusal === undefined || settings.dryRun) await removeAll(surplus)
    if (refusal !== undefined) throw refusal
  }

  async function removeAll(surplus: readonly Surplus[]): Promise<void> {
    const { references } = clients.external_references
    await createTaskPool(CONCURRENCY, signal).each(surplus, async (one) => {
      const { collection, name, value, internalReference, links } = one
      const key = { collection, name, value, ...(internalReference && { internalReference }) }
      try {
        const outcome = await references.remove(collection, name, value)
        links.unlink(value)
        reporter.report('external_references', undefined, key, { outcome })
      } catch (error) {
        reporter.report('external_references', undefined, key, refusalOf(error))
      }
    })
  }
}

type Data = Readonly<Record<string, unknown>>

/** A record with the names of its object's members, or why they are ambiguous. */
type NamedData = { readonly data: Data } | { readonly fault: string }

/**
 * A record with the names of its object's members: databases change the case of columns, and people write
 * them with underscores (`internalreference`, `INTERNAL_REFERENCE`). Several columns for one member must be
 * equal. An underscore at either end is part of the name: `_id` is the key of a table, not `id`.
 */
function withNames(data: Data, object: ObjectName): NamedData {
  const names = membersOf(object)
  // Without a prototype: a column `__proto__` is a normal column, and gives the record no members.
  const renamed: Record<string, unknown> = Object.create(null)
  const sources = new Map<string, string>()
  for (const [column, given] of Object.entries(data)) {
    const name = names.get(fold(column)) ?? column
    const reading = unpacked(name, given, object)
    if ('fault' in reading) return reading
    const { value } = reading
    const other = sources.get(name)
    if (other !== undefined && JSON.stringify(renamed[name]) !== JSON.stringify(value))
      return {
        fault: `The columns ${other} and ${column} both mean ${name}, but have different values.`,
      }
    sources.set(name, column)
    renamed[name] = value
  }
  return { data: renamed }
}

/**
 * The value of a member, or why it cannot be read. Databases have objects as texts: one in braces is JSON, or an error,
 * and never a name.
 */
function unpacked(
  name: string,
  value: unknown,
  object: ObjectName,
): { readonly value: unknown } | { readonly fault: string } {
  const mayBeObject = [objects[object].properties[name]?.['type']].flat().includes('object')
  if (!mayBeObject || typeof value !== 'string' || !/^\s*\{.*\}\s*$/s.test(value)) return { value }
  const content = tryParseExactly(value)
  if (!isJsonObject(content)) return { fault: `The ${name} is in braces, but is no JSON object.` }
  const repeated = repeatedMember(value)
  return repeated === undefined
    ? { value: content }
    : { fault: repeatedMemberMessage([name, ...repeated]) }
}

/** Whether columns of these names contain a key of the object. */
export function hasKey(columns: readonly string[], object: ObjectName): boolean {
  const names = new Set(columns.map(fold))
  return objects[object].keys.some((key) => key.every((name) => names.has(fold(name))))
}

/** An unknown member, and the name that was probably meant. */
interface UnknownMember {
  readonly name: string
  readonly meant: string | undefined
}

/**
 * The members of a record that neither its object nor the stream has, with the names of the object.
 */
function unknownMembers(data: Data, object: ObjectName): readonly UnknownMember[] {
  const known = knownMembers(object)
  const { properties } = objects[object]
  const missing = Object.keys(properties).filter((name) => !Object.hasOwn(data, name))
  const own = Object.keys(data).filter((name) => !name.startsWith('_') && !known.has(fold(name)))
  return [
    ...own.map((name) => ({ name, meant: meantBy(name, missing) })),
    ...Object.entries(properties).flatMap(([name, schema]) => unknownWithin(data, name, schema)),
  ]
}

/** The unknown members of an object within a record, such as `name.Default`. */
function unknownWithin(data: Data, name: string, { properties }: JsonSchema): UnknownMember[] {
  const within = data[name]
  if (properties === undefined || !isJsonObject(within)) return []
  const known = Object.keys(properties)
  return Object.keys(within)
    .filter((member) => !known.includes(member))
    .map((member) => {
      const meant = meantBy(member, known)
      return { name: `${name}.${member}`, meant: meant && `${name}.${meant}` }
    })
}

/** The message about unknown members of a record. */
function unknownInWords(members: readonly UnknownMember[]): string {
  const names = members.map(({ name, meant }) =>
    meant ? `${name} (did you mean ${meant}?)` : name,
  )
  return `No object has ${names.join(' or ')}.`
}

function meantBy(name: string, missing: readonly string[]): string | undefined {
  const meant = nearest(fold(name), missing.map(fold))
  return missing.find((one) => fold(one) === meant)
}

/** The names of an object's members, by the spelling that databases give columns. */
function membersOf(object: ObjectName): ReadonlyMap<string, string> {
  return new Map(Object.keys(objects[object].properties).map((name) => [fold(name), name]))
}

const KNOWN = new Map<ObjectName, ReadonlySet<string>>()

/** The writable members of all objects, and the other members of this object's stream. */
function knownMembers(object: ObjectName): ReadonlySet<string> {
  const known = KNOWN.get(object) ?? new Set(readMembers(object).map(fold))
  KNOWN.set(object, known)
  return known
}

function readMembers(object: ObjectName): readonly string[] {
  const { properties } = readProjectJson(`#schemas/${object}`) as JsonSchema
  return [
    ...Object.values(objects).flatMap((one) => Object.keys(one.properties)),
    ...Object.keys(properties ?? {}),
  ]
}

function fold(name: string): string {
  return name.replace(/(?<=[^_])_+(?=[^_])/g, '').toLowerCase()
}
