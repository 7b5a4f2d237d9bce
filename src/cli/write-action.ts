import { createReadStream } from 'node:fs'
import { access, constants, stat } from 'node:fs/promises'
import { parseWriteSettings, type WriteSettings } from '../config/write-settings.ts'
import {
  isJsonObject,
  repeatedMember,
  repeatedMemberMessage,
  tryParseJson,
} from '../ground/json.ts'
import { readLines } from '../protocol/input-messages.ts'
import { deletionOf } from '../protocol/sync-columns.ts'
import { type ObjectName, objects, scopesOf, type WriteRecord } from '../write/objects.ts'
import { countsInWords, failureInWords, type Outcome, warningsOf } from '../write/outcome.ts'
import { createWriter, lockObject } from '../write/writer.ts'
import {
  type ActionTools,
  EXIT,
  type ExitCode,
  knownName,
  UsageError,
  type WriteOptions,
} from './command.ts'
import { sayAll, withClient } from './with-client.ts'

/** A line of the input; a line that is not a record has a fault and no data. */
interface InputRecord extends Pick<WriteRecord, 'data' | 'isDelete' | 'fault'> {
  /** The first one is 1. */
  readonly line: number
}

/** The records of a file, or of stdin (`-`), one JSON object per line; empty lines are left out. */
async function* readRecords(from: string, signal: AbortSignal): AsyncGenerator<InputRecord> {
  const input = from === '-' ? process.stdin : createReadStream(from)
  const lines = readLines(input, signal)
  try {
    for (let isFirst = true; ; isFirst = false) {
      const next = await lines.next()
      if (next === undefined) return
      const { line, text } = next
      if (isFirst && text !== undefined) refuseOtherForms(text.trim())
      yield { line, ...toRecord(text) }
    }
  } finally {
    input.destroy()
  }
}

async function checkFile(path: string): Promise<void> {
  try {
    await access(path, constants.R_OK)
    if (!(await stat(path)).isDirectory()) return
  } catch (error) {
    throw new UsageError(`the file of --from cannot be read: ${(error as Error).message}`)
  }
  throw new UsageError(`--from names a folder: ${path}; name a file, or - for stdin`)
}

/** A table, a list, or an object over several lines has no record in its first line. */
function refuseOtherForms(text: string): void {
  if (text.startsWith('{') && text !== '{') return
  const what = text.startsWith('[') ? 'is a JSON array' : 'does not begin with a JSON object'
  throw new UsageError(
    `the input ${what}, but one JSON object per line is expected, as jq -c '.[]' or DuckDB's -jsonlines prints`,
  )
}

function toRecord(text: string | undefined): Omit<InputRecord, 'line'> {
  if (text === undefined) return unreadable('The line is not UTF-8.')
  const data = tryParseJson(text)
  if (!isJsonObject(data)) return unreadable('The line is not a JSON object.')
  const repeated = repeatedMember(text)
  if (repeated !== undefined) return unreadable(repeatedMemberMessage(repeated))
  const deletion = deletionOf(data)
  return 'fault' in deletion ? unreadable(deletion.fault) : { data, isDelete: deletion.isDeleted }
}

function unreadable(fault: string): Omit<InputRecord, 'line'> {
  return { data: {}, isDelete: false, fault }
}

/** Writes the records of a file or of stdin; prints one JSON line per record with its outcome. */
export async function write(
  tools: ActionTools,
  name: string,
  { from, dryRun, mirror, maxDeletes, showValues }: WriteOptions,
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
      'The setting mirror is for the destination and the target: here --mirror says that the input is complete, and nothing is deleted without it.',
    )
  const settings = { ...given, dryRun: dryRun ?? given.dryRun, mirror: mirror ?? false }
  if (from !== '-') await checkFile(from)
  const records = readRecords(from, tools.signal)
  return writeRecords(tools, object, { records, settings, showValues: showValues ?? false })
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
  return writeRecords(tools, 'work_locations', { records, settings, showValues: false })
}

interface Writing {
  readonly records: AsyncIterable<InputRecord> | Iterable<InputRecord>
  readonly settings: WriteSettings
  readonly showValues: boolean
}

async function writeRecords(
  tools: ActionTools,
  object: ObjectName,
  { records, settings, showValues }: Writing,
): Promise<ExitCode> {
  const { dryRun } = settings
  const lock = await lockObject(dryRun ? undefined : tools.folder, tools.config.baseUrl, object)
  return withClient(tools, scopesOf([object]), async (client) => {
    let written: Promise<void> | undefined
    const onOutcome = (outcome: Outcome) => {
      written = tools.say(lineOf(outcome)) ?? written
    }
    const writer = createWriter({
      client,
      settings,
      onOutcome,
      signal: tools.signal,
      showValues,
      // A mirror is checked as a whole before anything is changed.
      ...(settings.mirror && { batchSize: Number.POSITIVE_INFINITY }),
    })
    const { summary } = writer
    try {
      for await (const { line, ...record } of records) {
        await writer.add({ object, ordinal: line, ...record })
        await written
      }
      await writer.flush()
      if (settings.mirror) await writer.mirror(object)
    } finally {
      const ending = dryRun ? '; nothing was changed' : ''
      tools.log.info(`${object}: ${countsInWords(summary, dryRun) || 'no records'}${ending}.`)
      for (const warning of warningsOf(summary)) tools.log.warn(warning)
    }
    const failure = summary.failures.get(object)
    if (failure !== undefined) throw failure
    if (dryRun) warnOfScopes(await client.missingScopes(objects[object].scopes), tools)
    const reason = failureInWords(summary.counts, settings.maxRejected, dryRun)
    if (reason === undefined) return EXIT.done
    tools.log.warn(reason)
    return EXIT.failed
  }).finally(lock.release)
}

function objectOf(name: string): ObjectName {
  return knownName(name, Object.keys(objects), 'nothing can be written as') as ObjectName
}

/** A dry run sends no writes, so its outcomes cannot show missing permissions. */
function warnOfScopes(missing: readonly string[], { log }: ActionTools): void {
  if (missing.length === 0) return
  log.warn(
    `The service would refuse to write them: the client lacks ${missing.join(' and ')}. Ask the operator of the service for ${missing.length === 1 ? 'it' : 'them'}.`,
  )
}

/** The outcome, with the line of its record instead of the ordinal. */
function lineOf({ ordinal, object: _, ...outcome }: Outcome): object {
  return ordinal === undefined ? outcome : { line: ordinal, ...outcome }
}
