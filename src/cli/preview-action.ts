import { type Preview, preview } from '../ask/preview.ts'
import { isJsonObject } from '../ground/json.ts'
import { clean } from '../ground/text.ts'
import { redactionOfStream } from '../privacy/redaction.ts'
import { offeredStreams } from '../source/source.ts'
import type { Stream } from '../streams/collections.ts'
import { type ActionTools, EXIT, type ExitCode, knownName } from './command.ts'

/** Longer values are cut. */
const LONGEST = 32
const GAP = 2

/**
 * Records, given as JSON texts, as a table that is not wider than `width`: a row per record, a column per
 * member; members of objects have names such as `person.id`. Columns that do not fit are listed below the
 * table.
 */
export function recordTable(records: readonly string[], width: number): string {
  const rows = records.map((record) => new Map(membersOf(JSON.parse(record) as object)))
  const names = [...new Set(rows.flatMap((row) => [...row.keys()]))]
  const columns = names.map((name) => [name, ...rows.map((row) => row.get(name) ?? '')])
  const widths = columns.map((cells) => Math.max(...cells.map(widthOf)))
  const fitting = countOfFitting(widths, width)
  const lines = [undefined, ...rows].map((_, line) =>
    columns
      .slice(0, fitting)
      .map((cells, i) => padded(cells[line] ?? '', widths[i] ?? 0))
      .join(' '.repeat(GAP))
      .trimEnd(),
  )
  const left = names.slice(fitting)
  if (left.length > 0)
    lines.push(`and ${left.length} more column${left.length === 1 ? '' : 's'}: ${left.join(', ')}`)
  return lines.map((line) => `  ${line}`).join('\n')
}

function membersOf(value: object, at = ''): [string, string][] {
  return Object.entries(value).flatMap(([name, member]): [string, string][] => {
    const path = `${at}${clean(name, LONGEST)}`
    return isJsonObject(member) ? membersOf(member, `${path}.`) : [[path, shown(member)]]
  })
}

function shown(value: unknown): string {
  if (value === null || value === undefined) return ''
  return clean(typeof value === 'string' ? value : JSON.stringify(value), LONGEST)
}

function widthOf(text: string): number {
  return [...text].length
}

function padded(text: string, width: number): string {
  return text + ' '.repeat(width - widthOf(text))
}

/** At least one, however narrow the terminal is. */
function countOfFitting(widths: readonly number[], width: number): number {
  let used = 0
  for (const [i, one] of widths.entries()) {
    used += one + GAP
    if (i > 0 && used > width) return i
  }
  return widths.length
}

interface Choice {
  /** All streams if there are none. */
  readonly streams: readonly string[]
  readonly limit: number
  readonly isJson: boolean
}

/** The width of a terminal that does not report it. */
const WIDTH = 120

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
