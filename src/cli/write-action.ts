import { parseWriteSettings, type WriteSettings } from '../config/write-settings.ts'
import { ConnectorError } from '../ground/errors.ts'
import { warningOf } from '../ground/message-ids.ts'
import { openObject } from '../write/journal.ts'
import { type ObjectName, objects, scopesOf, type WriteRecord } from '../write/objects.ts'
import {
  countsInWords,
  failureOf,
  isRefusal,
  type Outcome,
  type OutcomeSummary,
  warningsOf,
} from '../write/outcome.ts'
import type { TargetReference } from '../write/write-batch.ts'
import { createWriter } from '../write/writer.ts'
import {
  type ActionTools,
  EXIT,
  type ExitCode,
  knownName,
  UsageError,
  type WriteOptions,
} from './command.ts'
import { checkInput, type InputRecord, readRecords } from './read-records.ts'
import { referencedCollection, sayAll, withClient, withoutWords } from './with-client.ts'

/** Writes the records of a file or of stdin; prints one JSON line per record with its outcome. */
export async function write(
  tools: ActionTools,
  name: string,
  { from, dryRun, mirror, maxDeletes, showValues, by }: WriteOptions,
): Promise<ExitCode> {
  const object = objectOf(name)
  if (mirror && !objects[object].isDeletable)
    throw new UsageError(`--mirror deletes, and ${object} cannot be deleted`)
  if (maxDeletes !== undefined && !mirror)
    throw new UsageError('--max-deletes limits what --mirror may delete: give both')
  const given = parseWriteSettings({
    ...Object(tools.input),
    ...(maxDeletes && { max_deletes: maxDeletes }),
  })
  // Only the option says that this input is complete.
  if (given.mirror && !mirror)
    tools.log.warn(
      warningOf(
        'mirror-setting-ignored',
        'The setting mirror is for the destination and the target: here --mirror says that the input is complete, and nothing is deleted without it.',
      ),
    )
  const settings = { ...given, dryRun: dryRun ?? given.dryRun, mirror: mirror ?? false }
  if (by !== undefined && object !== 'external_references')
    throw new UsageError('--by names the targets of external_references')
  const target = by && { ...by, collection: referencedCollection(by.collection) }
  await checkInput(from)
  const records = readRecords(from, object, tools.signal)
  return writeAll(tools, { object, records, settings, showValues, by: target })
}

/** The options of `protime work-locations create`. */
export interface WorkLocationToCreate {
  readonly name: string
  readonly description?: string
  /** The custom reference that identifies it. */
  readonly as: readonly [name: string, value: string]
}

/** Prints all work locations. */
export async function listWorkLocations(tools: ActionTools): Promise<ExitCode> {
  await withClient(tools, ['work-locations.read'], ({ workLocations }) =>
    sayAll(tools, workLocations.list()),
  )
  return EXIT.done
}

/** Creates a work location unless there is one with its reference; prints the outcome. */
export async function createWorkLocation(
  tools: ActionTools,
  { as: [reference, value], ...fields }: WorkLocationToCreate,
): Promise<ExitCode> {
  const settings = { ...parseWriteSettings(tools.input), workLocationReference: reference }
  const data = { ...fields, externalReferences: { [reference]: value } }
  const records = [{ line: 1, data, isDelete: false }]
  return writeAll(tools, { object: 'work_locations', records, settings })
}

/** Writes one record as `protime write` does, without a summary. Throws if it is refused, unless it is missing (404). */
export async function writeOne(
  tools: ActionTools,
  { object, data, isDelete = false }: Pick<WriteRecord, 'object' | 'data'> & { isDelete?: boolean },
  own: Partial<WriteSettings> = {},
): Promise<Outcome> {
  const settings = { ...parseWriteSettings(tools.input), ...own, mirror: false }
  const outcomes: Outcome[] = []
  const records = [{ line: 1, data, isDelete }]
  await run(tools, { object, records, settings }, (outcome) => void outcomes.push(outcome))
  const [outcome] = outcomes
  if (outcome === undefined) throw new Error('The record has no outcome.')
  const isMissing = outcome.outcome === 'rejected' && outcome.status === 404
  if (!isRefusal(outcome) || isMissing) return outcome
  const { outcome: kind, reason = kind } = outcome
  throw kind === 'unknown'
    ? new ConnectorError('transient', 'outcome-unknown', reason)
    : new ConnectorError('config', 'records-failed', reason)
}

interface Writing {
  readonly object: ObjectName
  readonly records: AsyncIterable<InputRecord> | Iterable<InputRecord>
  readonly settings: WriteSettings
  readonly showValues?: boolean | undefined
  readonly by?: TargetReference | undefined
}

/** Writes records, prints the outcome of each, and logs the summary. */
async function writeAll(tools: ActionTools, writing: Writing): Promise<ExitCode> {
  const { object, settings } = writing
  const { dryRun, maxRejected } = settings
  const tellSummary = (summary: OutcomeSummary) => {
    const ending = dryRun ? '; nothing was changed' : ''
    tools.log.info(`${object}: ${countsInWords(summary, dryRun) || 'no records'}${ending}.`)
    for (const warning of warningsOf(summary)) tools.log.warn(warning)
  }
  const { counts } = await run(tools, writing, (one) => tools.say(lineOf(one)), tellSummary)
  const failure = failureOf(counts, maxRejected, dryRun)
  if (failure === undefined) return EXIT.done
  tools.log.warn(failure)
  return EXIT.failed
}

/**
 * Writes records, and calls `onEnd` also if that fails. `onOutcome` returns a promise if the reader is behind. Throws the
 * failure of an object that cannot be written.
 */
async function run(
  given: ActionTools,
  { object, records, settings, showValues = false, by }: Writing,
  onOutcome: (outcome: Outcome) => Promise<void> | undefined | void,
  onEnd: (summary: OutcomeSummary) => void = () => {},
): Promise<OutcomeSummary> {
  const { configFile, config, signal, time } = given
  const { dryRun, mirror } = settings
  const isPrivate = object === 'external_references' && !showValues
  const tools = isPrivate ? withoutWords(given) : given
  const scopes = [...scopesOf([object]), ...(by === undefined ? [] : [`${by.collection}.read`])]
  const lock = await openObject(dryRun ? undefined : configFile, config, object)
  return withClient(tools, scopes, async (client) => {
    const missing = await client.missingScopes(scopes)
    if (missing.length > 0) throw lacking(missing)
    let written: Promise<void> | undefined
    const writer = createWriter({
      ...{ client, settings, signal, showValues, by, journal: lock.journal },
      ...(time !== undefined && { time }),
      onOutcome: (outcome) => {
        written = onOutcome(outcome) || written
      },
      // A mirror is checked as a whole before anything is changed.
      ...(mirror && { batchSize: Number.POSITIVE_INFINITY }),
    })
    const { summary } = writer
    try {
      for await (const { line, ...record } of records) {
        await writer.add({ object, ordinal: line, ...record })
        await written
      }
      await writer.flush()
      if (mirror) await writer.mirror(object)
    } finally {
      onEnd(summary)
    }
    const failure = summary.failures.get(object)
    if (failure !== undefined) throw failure
    return summary
  }).finally(lock.release)
}

function lacking(scopes: readonly string[]): ConnectorError {
  return new ConnectorError(
    'config',
    'scope-missing',
    `Nothing was written: the client lacks ${scopes.join(' and ')}. Ask the operator of the service for ${scopes.length === 1 ? 'it' : 'them'}.`,
  )
}

function objectOf(name: string): ObjectName {
  return knownName(name, Object.keys(objects), 'nothing can be written as') as ObjectName
}

/** The outcome, with the line of its record instead of the ordinal. */
function lineOf({ ordinal, object: _, ...outcome }: Outcome): object {
  return ordinal === undefined ? outcome : { line: ordinal, ...outcome }
}
