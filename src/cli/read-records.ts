import { createReadStream } from 'node:fs'
import { access, constants, stat } from 'node:fs/promises'
import { opensOrClosesQuote, parseCsvRecord } from '../ground/csv.ts'
import { ConnectorError } from '../ground/errors.ts'
import {
  isJsonObject,
  repeatedMember,
  repeatedMemberMessage,
  tryParseExactly,
} from '../ground/json.ts'
import { type InputLines, readLines } from '../protocol/input-messages.ts'
import { deletionOf } from '../protocol/sync-columns.ts'
import type { ObjectName, WriteRecord } from '../write/objects.ts'
import { hasKey } from '../write/writer.ts'
import { UsageError } from './command.ts'

/** A record of the input; one that cannot be read has a fault and no data. */
export interface InputRecord extends Pick<WriteRecord, 'data' | 'isDelete' | 'fault'> {
  /** Where it begins; the first line is 1. */
  readonly line: number
}

/** Throws unless the input is stdin (`-`) or a file that can be read. */
export async function checkInput(path: string): Promise<void> {
  if (path === '-') return
  try {
    await access(path, constants.R_OK)
    if (!(await stat(path)).isDirectory()) return
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new ConnectorError(
      'config',
      'file-not-readable',
      `The file given by --from cannot be read (${code}): ${path}.`,
    )
  }
  throw new UsageError(`--from names a folder: ${path}; name a file, or - for stdin`)
}

/**
 * The records of a file, or of stdin (`-`), in UTF-8: one JSON object per line, or CSV (RFC 4180) whose header has the
 * members of the object, those within objects with dots (`name.translations.nl`). Empty lines are left out. Throws a
 * UsageError for any other form.
 */
export async function* readRecords(
  from: string,
  object: ObjectName,
  signal: AbortSignal,
): AsyncGenerator<InputRecord> {
  const input = from === '-' ? process.stdin : createReadStream(from)
  const lines = readLines(input, signal)
  try {
    const first = await lines.next()
    if (first === undefined) return
    const start = first.text?.trim() ?? '{}'
    if (!start.startsWith('{') || start === '{') {
      yield* csvRecords(headerOf(start, object), lines)
      return
    }
    for (let next: typeof first | undefined = first; next; next = await lines.next())
      yield { line: next.line, ...fromJson(next.text) }
  } finally {
    input.destroy()
  }
}

/** The paths of the members that the columns have. */
function headerOf(text: string, object: ObjectName): readonly (readonly string[])[] {
  const names = parseCsvRecord(text)?.map((name) => name?.trim() ?? '') ?? []
  const paths = names.map((name) => name.split('.'))
  if (
    !hasKey(
      paths.map(([name = '']) => name),
      object,
    )
  )
    throw new UsageError(
      `the input begins neither with a JSON object on one line nor with the header of a CSV table, separated by commas, with the key of ${object}; jq -c '.[]' and DuckDB's -jsonlines and -csv print such records`,
    )
  const twice = names.find((name, i) => names.indexOf(name) !== i)
  if (twice !== undefined)
    throw new UsageError(`the header of the input has the column ${twice} twice`)
  for (const name of names) {
    const within = names.find((other) => other.startsWith(`${name}.`))
    if (within !== undefined)
      throw new UsageError(
        `the header of the input has the column ${name}, and ${within} within it: a record can have only one of the two`,
      )
  }
  return paths
}

/**
 * A record that cannot be read counts once for each of its lines: behind a quote that is not closed, other records are
 * lost with it.
 */
async function* csvRecords(
  header: readonly (readonly string[])[],
  lines: InputLines,
): AsyncGenerator<InputRecord> {
  for (let next = await lines.next(); next; next = await lines.next()) {
    const { line } = next
    const parts = [next.text]
    const all = [line]
    for (let isOpen = opensOrClosesQuote(next.text); isOpen; ) {
      const more = await lines.next(true)
      parts.push(more?.text)
      if (more !== undefined && more.text?.trim() !== '') all.push(more.line)
      isOpen = more?.text !== undefined && !opensOrClosesQuote(more.text)
    }
    const record = fromCsv(parts.includes(undefined) ? undefined : parts.join('\n'), header)
    if (record.fault === undefined) yield { line, ...record }
    else for (const one of all) yield { line: one, ...record }
  }
}

function fromCsv(
  text: string | undefined,
  header: readonly (readonly string[])[],
): Omit<InputRecord, 'line'> {
  const fields = text === undefined ? undefined : parseCsvRecord(text)
  if (fields === undefined)
    return unreadable(
      'The record is not CSV in UTF-8: a quote is not closed or in the wrong place.',
    )
  if (fields.length !== header.length)
    return unreadable(`The record has ${fields.length} fields, and the header ${header.length}.`)
  const given = header.flatMap((path, i) => {
    const value = fields[i]
    return value === undefined ? [] : [[path, value] as const]
  })
  return toRecord(nested(given))
}

/** An object with these texts at their paths. */
function nested(texts: readonly (readonly [path: readonly string[], text: string])[]): object {
  const names = new Set(texts.map(([[name = '']]) => name))
  const members = [...names].map((name) => {
    const own = texts.filter(([path]) => path[0] === name)
    const whole = own.find(([path]) => path.length === 1)
    return [name, whole?.[1] ?? nested(own.map(([path, text]) => [path.slice(1), text] as const))]
  })
  return Object.fromEntries(members)
}

function fromJson(text: string | undefined): Omit<InputRecord, 'line'> {
  if (text === undefined) return unreadable('The line is not UTF-8.')
  const data = tryParseExactly(text)
  if (!isJsonObject(data)) return unreadable('The line is not a JSON object.')
  const repeated = repeatedMember(text)
  return repeated === undefined ? toRecord(data) : unreadable(repeatedMemberMessage(repeated))
}

function toRecord(data: object): Omit<InputRecord, 'line'> {
  const record = data as Readonly<Record<string, unknown>>
  const deletion = deletionOf(record)
  return 'fault' in deletion
    ? unreadable(deletion.fault)
    : { data: record, isDelete: deletion.isDeleted }
}

function unreadable(fault: string): Omit<InputRecord, 'line'> {
  return { data: {}, isDelete: false, fault }
}
