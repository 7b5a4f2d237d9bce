import { type ObjectName, objects, scopesOf } from '../write/objects.ts'
import type { Outcome, OutcomeCounts } from '../write/outcome.ts'
import { parseWriteSettings } from '../write/write-settings.ts'
import { createWriter } from '../write/writer.ts'
import type { ActionTools } from './action.ts'
import { EXIT, type ExitCode, UsageError } from './exit-code.ts'
import { readRecords } from './read-records.ts'
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
      showValues: showValues ?? false,
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
      tools.log.info(sentence(object, counts))
    }
    const failure = failures.get(object)
    if (failure !== undefined) throw failure
    if (!writer.summary.isOverLimit) return EXIT.done
    tools.log.warn(
      `${counts.rejected} records were rejected, and max_rejected is ${settings.maxRejected}. The others were written; mend these and write them again.`,
    )
    return EXIT.failed
  })
}

function objectOf(name: string): ObjectName {
  if (Object.hasOwn(objects, name)) return name as ObjectName
  throw new UsageError(
    `${name} cannot be written; choose one of ${Object.keys(objects).join(', ')}`,
  )
}

/** The outcome with the line of its record in place of the ordinal. */
function lineOf({ ordinal, object: _, ...outcome }: Outcome): object {
  return ordinal === undefined ? outcome : { line: ordinal, ...outcome }
}

function sentence(object: string, counts: OutcomeCounts): string {
  const parts = Object.entries(counts).filter(([, count]) => count > 0)
  const text = parts.map(([outcome, count]) => `${count} ${outcome}`).join(', ')
  return `${object}: ${text === '' ? 'no records' : text}.`
}
