import { type ObjectName, objects, scopesOf } from '../write/objects.ts'
import { countsInWords, type Outcome, tooManyRejected } from '../write/outcome.ts'
import { parseWriteSettings, type WriteSettings } from '../write/write-settings.ts'
import { createWriter } from '../write/writer.ts'
import type { ActionTools } from './action.ts'
import { EXIT, type ExitCode, UsageError } from './exit-code.ts'
import { knownName } from './known-name.ts'
import { type InputRecord, readRecords } from './read-records.ts'
import { withClient } from './with-client.ts'
import type { WriteOptions } from './write-options.ts'

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
      tools.log.info(`${object}: ${countsInWords(counts) || 'no records'}.`)
    }
    const failure = failures.get(object)
    if (failure !== undefined) throw failure
    if (!writer.summary.isOverLimit) return EXIT.done
    tools.log.warn(tooManyRejected(counts.rejected, settings.maxRejected))
    return EXIT.failed
  })
}

function objectOf(name: string): ObjectName {
  return knownName(name, Object.keys(objects), 'nothing can be written as') as ObjectName
}

/** The outcome with the line of its record in place of the ordinal. */
function lineOf({ ordinal, object: _, ...outcome }: Outcome): object {
  return ordinal === undefined ? outcome : { line: ordinal, ...outcome }
}
