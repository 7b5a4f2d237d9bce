import { open } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { parseWriteSettings, type WriteSettings } from '../config/write-settings.ts'
import { isJsonObject, tryParseJson } from '../ground/json.ts'
import { isDeleted } from '../protocol/sync-columns.ts'
import { type ObjectName, objects, scopesOf, type WriteRecord } from '../write/objects.ts'
import { countsInWords, type Outcome, tooManyRejected } from '../write/outcome.ts'
import { createWriter } from '../write/writer.ts'
import { type ActionTools, EXIT, type ExitCode, UsageError, type WriteOptions } from './command.ts'
import { knownName } from './known-name.ts'
import { withClient } from './with-client.ts'

/** A line of the input; one that is no record has a fault, and no data. */
export interface InputRecord extends Pick<WriteRecord, 'data' | 'isDelete' | 'fault'> {
  /** The first one is 1. */
  readonly line: number
}

/** The records of a file, or of stdin (`-`), one JSON object per line; empty lines are left out. */
export async function readRecords(from: string): Promise<AsyncIterable<InputRecord>> {
  return toRecords(from === '-' ? process.stdin : await openFile(from))
}

async function openFile(path: string): Promise<NodeJS.ReadableStream> {
  try {
    return (await open(path)).createReadStream()
  } catch (error) {
    throw new UsageError(`the file of --from cannot be read: ${(error as Error).message}`)
  }
}

async function* toRecords(input: NodeJS.ReadableStream): AsyncGenerator<InputRecord> {
  let line = 0
  for await (const text of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
    line++
    const bare = text.replace(/^\ufeff/, '').trim()
    if (bare !== '') yield { line, ...toRecord(bare) }
  }
}

function toRecord(text: string): Omit<InputRecord, 'line'> {
  const data = tryParseJson(text)
  if (!isJsonObject(data))
    return { data: {}, isDelete: false, fault: 'The line is not a JSON object.' }
  return { data, isDelete: isDeleted(data) }
}

/** Writes the records of a file or of stdin; one JSON line per record says what became of it. */
export async function write(
  tools: ActionTools,
  name: string,
  { from, dryRun, mirror, showValues }: WriteOptions,
): Promise<ExitCode> {
  const object = objectOf(name)
  if (mirror && !objects[object].isDeletable)
    throw new UsageError(`--mirror deletes, and ${object} cannot be deleted`)
  const given = parseWriteSettings(tools.input)
  const settings = {
    ...given,
    dryRun: dryRun ?? given.dryRun,
    mirror: objects[object].isDeletable && (mirror ?? given.mirror),
  }
  const records = await readRecords(from)
  return writeRecords(tools, object, { records, settings, showValues: showValues ?? false })
}

/** What `protime work-locations create` asks for. */
export interface WorkLocationToCreate {
  readonly name: string
  readonly description?: string
  /** The custom reference by which it is known again. */
  readonly as: readonly [name: string, value: string]
}

/** Creates a work location unless there is one with its reference; prints what became of it. */
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
    })
    const { counts, failures } = writer.summary
    try {
      for await (const { line, ...record } of records) {
        await writer.add({ object, ordinal: line, ...record })
        await written
      }
      await writer.flush()
      if (settings.mirror) await writer.mirror(object)
    } finally {
      const ending = dryRun ? '; nothing was changed' : ''
      tools.log.info(`${object}: ${countsInWords(counts, dryRun) || 'no records'}${ending}.`)
    }
    const failure = failures.get(object)
    if (failure !== undefined) throw failure
    if (dryRun) warnOfScopes(await client.missingScopes(objects[object].scopes), tools)
    if (!writer.summary.isOverLimit) return EXIT.done
    tools.log.warn(tooManyRejected(counts.rejected, settings.maxRejected, dryRun))
    return EXIT.failed
  })
}

function objectOf(name: string): ObjectName {
  return knownName(name, Object.keys(objects), 'nothing can be written as') as ObjectName
}

/** A dry run asks for nothing that the client may not do, so that its outcomes do not tell. */
function warnOfScopes(missing: readonly string[], { log }: ActionTools): void {
  if (missing.length === 0) return
  log.warn(
    `The service would refuse to write them: the client lacks ${missing.join(' and ')}. Ask the operator of the service for ${missing.length === 1 ? 'it' : 'them'}.`,
  )
}

/** The outcome with the line of its record in place of the ordinal. */
function lineOf({ ordinal, object: _, ...outcome }: Outcome): object {
  return ordinal === undefined ? outcome : { line: ordinal, ...outcome }
}
