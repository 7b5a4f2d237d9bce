import { type Preview, preview } from '../ask/preview.ts'
import { exitCodeOf } from '../ground/errors.ts'
import { about } from '../ground/message-ids.ts'
import { redactionOfStream } from '../privacy/redaction.ts'
import type { Failure } from '../protocol/connector.ts'
import { offeredStreams } from '../source/source.ts'
import type { Stream } from '../streams/collections.ts'
import { type ActionTools, EXIT, type ExitCode, knownName } from './command.ts'
import { recordTable, WIDTH } from './record-table.ts'

interface Choice {
  /** All streams if there are none. */
  readonly streams: readonly string[]
  readonly limit: number
  readonly isJson: boolean
}

/** Prints the first records of each stream, and why some have none. */
export async function show(
  tools: ActionTools,
  { streams, limit, isJson }: Choice,
): Promise<ExitCode> {
  const { config, mask, signal, log, print } = tools
  const jobs = chosen(streams, offeredStreams(config)).map((stream) => ({
    stream,
    redaction: redactionOfStream(stream, config.privacy),
  }))
  const failures: Failure[] = []
  for await (const one of preview(jobs, { config, mask, signal, log, limit })) {
    if (one.problem !== undefined) {
      failures.push({ error: one.problem })
      log.warn(about(one.stream, one.problem))
    } else if (isJson) {
      const name = JSON.stringify(one.stream)
      for (const record of one.records) await print(`{"stream":${name},"record":${record}}`)
    } else await print(asTable(one))
  }
  return failures.length === jobs.length ? exitCodeOf(failures) : EXIT.done
}

function chosen(names: readonly string[], offered: ReadonlyMap<string, Stream>): Stream[] {
  if (names.length === 0) return [...offered.values()]
  const known = [...offered.keys()]
  return names.map((name) => offered.get(knownName(name, known, 'there is no stream')) as Stream)
}

function asTable({ stream, records, hasMore, days }: Preview): string {
  const count = `${hasMore ? 'the first ' : ''}${records.length} record${records.length === 1 ? '' : 's'}`
  const when = days === undefined ? '' : ` from ${days.from} to ${days.until}`
  const head = `${stream}: ${count}${when}`
  if (records.length === 0) return `${head}\n`
  return `${head}\n${recordTable(records, process.stdout.columns || WIDTH)}\n`
}
