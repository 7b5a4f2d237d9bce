import { type Preview, preview } from '../ask/preview.ts'
import { treatmentOfStream } from '../privacy/treated-stream.ts'
import { offeredStreams } from '../source/offered-streams.ts'
import type { Stream } from '../streams/collection.ts'
import type { ActionTools } from './action.ts'
import { EXIT, type ExitCode } from './exit-code.ts'
import { knownName } from './known-name.ts'
import { recordTable } from './record-table.ts'

interface Choice {
  /** All streams when there are none. */
  readonly streams: readonly string[]
  readonly limit: number
  readonly isJson: boolean
}

/** Columns of a terminal that nobody can ask. */
const WIDTH = 120

/** Prints the first records of each stream, and why some have none. */
export async function show(
  tools: ActionTools,
  { streams, limit, isJson }: Choice,
): Promise<ExitCode> {
  const { config, mask, signal, log, print } = tools
  const jobs = chosen(streams, offeredStreams(config)).map((stream) => ({
    stream,
    treatment: treatmentOfStream(stream, config.privacy),
  }))
  let failures = 0
  for await (const one of preview(jobs, { config, mask, signal, log, limit })) {
    if (one.problem !== undefined) {
      failures++
      log.warn(`${one.stream}: ${one.problem.message}`)
    } else if (isJson) {
      const name = JSON.stringify(one.stream)
      for (const record of one.records) await print(`{"stream":${name},"record":${record}}`)
    } else await print(asTable(one))
  }
  return failures === jobs.length ? EXIT.failed : EXIT.done
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
