import type { Readable } from 'node:stream'
import { ConnectorError } from '../ground/errors.ts'
import {
  isJsonObject,
  type JsonObject,
  jsonFault,
  repeatedMember,
  repeatedMemberMessage,
  TEXTS_AND_MARKS,
  tryParseExactly,
} from '../ground/json.ts'

const LINE_FEED = 10

/** One message of the input. */
export interface InputMessage {
  /** The line number in the input, from 1. */
  readonly line: number
  /** The unchanged line. */
  readonly text: string
  /** Numbers with more digits than a number keeps are texts. */
  readonly value: JsonObject
  /** The path of a member that an object in the message has twice. */
  readonly repeated: readonly string[] | undefined
}

/**
 * The fault of a message's record, which is at `path` in the message: a member that an object has twice; undefined if
 * there is none. Throws an InputFault if the repeated member is outside of the record.
 */
export function recordFault(
  { line, repeated }: Pick<InputMessage, 'line' | 'repeated'>,
  path: readonly string[],
): string | undefined {
  if (repeated === undefined) return undefined
  const isWithin = repeated.length > path.length && path.every((name, i) => repeated[i] === name)
  if (!isWithin) throw hasTwice(line, repeated)
  return repeatedMemberMessage(repeated.slice(path.length))
}

function hasTwice(line: number, path: readonly string[]): InputFault {
  return new InputFault(line, `has the duplicate key ${path.join('.')}`)
}

/** The messages of an input, one JSON object per line. */
export interface InputMessages {
  /**
   * The next message; undefined at the end. Throws an InputFault for a line that is not a message, and the reason
   * with which `signal` was aborted.
   */
  next(): Promise<InputMessage | undefined>
  /** Whether the next line has already been read. */
  readonly isReady: boolean
}

/** A line of the input. `text` is undefined if the line is not UTF-8. */
interface InputLine {
  /** The line number in the input, from 1. */
  readonly line: number
  readonly text: string | undefined
}

/** The lines of an input. */
export interface InputLines {
  /**
   * The next line, blank only with `allowBlank`; undefined at the end. Throws the reason with which `signal` was
   * aborted.
   */
  next(allowBlank?: boolean): Promise<InputLine | undefined>
  /** Whether the next line has already been read. */
  readonly isReady: boolean
}

/** Reads lines from stdin or another stream. */
export function readLines(input: Readable, signal: AbortSignal): InputLines {
  const chunks = input[Symbol.asyncIterator]() as AsyncIterator<Buffer | string>
  const decoder = new TextDecoder('utf-8', { fatal: true })
  const interrupted = new Promise<never>((_resolve, reject) => {
    const stop = () => {
      // Nobody reads the rest, and an open input would keep the process alive.
      input.destroy()
      reject(signal.reason)
    }
    if (signal.aborted) stop()
    else signal.addEventListener('abort', stop, { once: true })
  })
  interrupted.catch(() => {})
  /** Complete lines without line breaks, and the beginning of the next one. */
  let lines: Buffer[] = []
  let rest: Buffer[] = []
  let at = 0
  let line = 0
  return {
    get isReady() {
      return at < lines.length
    },
    async next(allowBlank = false) {
      for (;;) {
        const bytes = await nextLine()
        if (bytes === undefined) return undefined
        line++
        const text = decoded(bytes)
        if (allowBlank || text?.trim() !== '') return { line, text }
      }
    },
  }

  async function nextLine(): Promise<Buffer | undefined> {
    while (at >= lines.length) {
      // The abort also ends the iteration.
      const { done, value } = await Promise.race([interrupted, chunks.next()])
      if (signal.aborted) throw signal.reason
      if (done) return lastLine()
      split(typeof value === 'string' ? Buffer.from(value) : value)
    }
    return lines[at++]
  }

  function split(chunk: Buffer): void {
    lines = []
    at = 0
    let from = 0
    for (let end = chunk.indexOf(LINE_FEED); end >= 0; end = chunk.indexOf(LINE_FEED, from)) {
      lines.push(joined(chunk.subarray(from, end)))
      from = end + 1
    }
    if (from < chunk.length) rest.push(chunk.subarray(from))
  }

  function joined(piece: Buffer): Buffer {
    if (rest.length === 0) return piece
    const whole = Buffer.concat([...rest, piece])
    rest = []
    return whole
  }

  function lastLine(): Buffer | undefined {
    return rest.length === 0 ? undefined : joined(Buffer.alloc(0))
  }

  function decoded(bytes: Buffer): string | undefined {
    try {
      return decoder.decode(bytes)
    } catch {
      return undefined
    }
  }
}

/** Reads messages from stdin or another stream. */
export function readMessages(input: Readable, signal: AbortSignal): InputMessages {
  const lines = readLines(input, signal)
  return {
    get isReady() {
      return lines.isReady
    },
    async next() {
      const next = await lines.next()
      if (next === undefined) return undefined
      const { line, text } = next
      if (text === undefined) throw new InputFault(line, 'is not UTF-8')
      const value = parsed(line, text)
      const repeated = repeatedMember(text)
      // If the message itself has a member twice, its type may be unclear. The handler checks members further inside.
      if (repeated?.length === 1) throw hasTwice(line, repeated)
      return { line, text, value, repeated }
    },
  }
}

function parsed(line: number, text: string): JsonObject {
  const value = tryParseExactly(text)
  if (value === undefined)
    throw new InputFault(line, `is not JSON at column ${jsonFault(text) + 1}`)
  if (isJsonObject(value)) return value
  throw new InputFault(line, 'is not a message: it is no JSON object')
}

/**
 * A line of the input that cannot be used. The message quotes nothing of the line. Everything before the line is
 * written and its states are passed on, but nothing after it.
 */
export class InputFault extends ConnectorError {
  constructor(line: number, reason: string) {
    super(
      'system',
      'input-not-valid',
      `Line ${line} of the input ${reason}. Everything before it is written. Nothing after it is, and no state that covers it was passed on, so the next run sends it again.`,
    )
  }
}

/**
 * The JSON text of a member, exactly as it is written, so that numbers keep digits that JSON.parse would round.
 * Undefined if there is none; if the object has the member twice, the last one, as JSON.parse does. The JSON has to
 * be valid.
 */
export function memberText(json: string, name: string): string | undefined {
  let depth = 0
  let text = ''
  let key: unknown
  let start = 0
  let found: string | undefined
  for (const { 0: token, index } of json.matchAll(TEXTS_AND_MARKS)) {
    if (token.startsWith('"')) text = token
    else if (token === '{' || token === '[') depth++
    else if (token === ':') {
      if (depth !== 1) continue
      key = JSON.parse(text)
      start = index + 1
    } else {
      const isEnd = depth === 1
      if (token !== ',') depth--
      if (isEnd && key === name) found = json.slice(start, index).trim()
      if (isEnd) key = undefined
    }
  }
  return found
}
