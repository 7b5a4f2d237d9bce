import type { Readable } from 'node:stream'
import { ConnectorError } from '../ground/errors.ts'
import { isJsonObject } from '../ground/json.ts'
import { readLines } from '../protocol/input-messages.ts'
import type { RowKey } from './digests.ts'
import { createLooseReader, markOf, type RecordReader } from './record-reader.ts'
import { type Held, type HeldRows, RowTable, type VerifiedStream } from './row-table.ts'

interface Printed {
  readonly stream: VerifiedStream
  readonly table: RowTable
  readonly repeated: RowKey[]
  readonly reader: RecordReader
  /** Whether some row has the field at this place. */
  readonly isThere: boolean[]
}

/**
 * Reads the rows that a warehouse printed as JSON lines, `{"stream": "people", "row": {...}}`, in any order. A line
 * without `row` says that the stream has a table. Rows that are marked as deleted are ignored. Throws a config error
 * for an invalid line, without quoting its values.
 */
export async function readPrintedRows(
  input: Readable,
  streams: readonly VerifiedStream[],
  signal: AbortSignal,
): Promise<Held> {
  const known = new Map(streams.map((stream) => [stream.name, stream]))
  const held = new Map<string, Printed>()
  const lines = readLines(input, signal)
  for (let next = await lines.next(); next !== undefined; next = await lines.next()) {
    const { line } = next
    const { stream: name, row } = messageOf(next.text, line)
    const stream = known.get(name)
    if (stream === undefined) continue
    const printed = held.get(name) ?? begin(stream)
    held.set(name, printed)
    if (row === undefined) continue
    const mark = markOf(row)
    if ('fault' in mark) throw notValid(line, mark.fault)
    if (!mark.isDeleted) take(row, printed)
  }
  return new Map([...held].map(([name, printed]) => [name, heldOf(printed)]))
}

function begin(stream: VerifiedStream): Printed {
  const reader = createLooseReader(stream)
  return { stream, table: new RowTable(), repeated: [], reader, isThere: [] }
}

/** The rows of one stream for the comparison. Without any row, the columns of the table are unknown. */
function heldOf({ stream, table, repeated, reader, isThere }: Printed): HeldRows {
  const { fields } = reader
  const isEmpty = table.count === 0
  const lacks = (name: string) => !isEmpty && isThere[fields.placeOf(name)] !== true
  const missing = stream.key.find(lacks)
  if (missing !== undefined)
    throw new ConnectorError(
      'config',
      'rows-not-valid',
      `The rows of ${stream.name} have no column ${missing} that identifies them.`,
    )
  const compared = createLooseReader(stream, (place) => isEmpty || isThere[place] === true)
  table.end()
  return { table, repeated, reader: compared, lacking: fields.names.filter(lacks) }
}

function take(row: Readonly<Record<string, unknown>>, printed: Printed): void {
  const { table, repeated, reader, isThere } = printed
  const { fields } = reader
  for (const name in row) {
    const place = fields.placeOf(name)
    if (place >= 0) isThere[place] = true
  }
  reader.read(Buffer.from(JSON.stringify(row)), 0)
  if (!table.add(reader.row, fields.names.length)) repeated.push(reader.row.key)
}

interface RowMessage {
  readonly stream: string
  readonly row: Readonly<Record<string, unknown>> | undefined
}

function messageOf(text: string | undefined, line: number): RowMessage {
  const { stream, row } = parsed(text, line)
  if (typeof stream !== 'string') throw notValid(line, 'It names no stream.')
  if (row !== undefined && !isJsonObject(row)) throw notValid(line, 'Its row is not a JSON object.')
  return { stream, row }
}

function parsed(text: string | undefined, line: number): Readonly<Record<string, unknown>> {
  if (text === undefined) throw notValid(line, 'It is not UTF-8.')
  try {
    const value: unknown = JSON.parse(text)
    if (isJsonObject(value)) return value
  } catch {
    // Ignored: the parser's message quotes a part of the line, which may be personal data.
  }
  throw notValid(line, 'It is not a JSON object.')
}

function notValid(line: number, reason: string): ConnectorError {
  return new ConnectorError(
    'config',
    'rows-not-valid',
    `Line ${line} of the rows cannot be used. ${reason} A line is {"stream": "people", "row": {"id": 1}}.`,
  )
}
