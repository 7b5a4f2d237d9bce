import { appendFileSync } from 'node:fs'
import { join } from 'node:path'

/** A message that is no RECORD. */
export type Message = Readonly<Record<string, unknown>> & { readonly type: string }

/** Records of which the source has said by a STATE that it need not send them again. */
export interface Checkpoint {
  /** Files of RECORD messages, one per line, by stream, in the order in which they came. */
  readonly files: ReadonlyMap<string, readonly string[]>
  /** The last state of each stream, as the next read takes it. */
  readonly states: ReadonlyMap<string, unknown>
  readonly records: number
}

/** Sorts the output of a source into files, and says which of them may be committed. */
export interface Checkpoints {
  /** Takes the next bytes; lines may be cut anywhere. */
  write(chunk: Buffer): void
  /** How many bytes of records wait to be committed. */
  bytes(): number
  /** What may be committed now, or nothing. The files are the caller's from then on. */
  take(): Checkpoint | undefined
  /** Streams with records that no STATE has followed. */
  unfinished(): readonly string[]
}

export interface CheckpointsSettings {
  /** An empty folder for the files. */
  readonly folder: string
  readonly onMessage: (message: Message) => void
}

interface StateMessage {
  readonly stream: { readonly stream_descriptor: { readonly name: string } }
}

const NEWLINE = 10
const QUOTE = 34
// How nearly every line of the source begins; other spellings of the same message are parsed.
const HEAD = Buffer.from('{"type":"RECORD","record":{"stream":"')

/** Records of one stream since its last STATE. */
interface Open {
  readonly file: string
  records: number
  bytes: number
}

export function createCheckpoints({ folder, onMessage }: CheckpointsSettings): Checkpoints {
  const open = new Map<string, Open>()
  let closed = empty()
  let files = 0
  let rest: Buffer = Buffer.alloc(0)

  const openFile = (stream: string): Open => {
    const known = open.get(stream)
    if (known !== undefined) return known
    files += 1
    const opened = { file: join(folder, `${files}.ndjson`), records: 0, bytes: 0 }
    open.set(stream, opened)
    return opened
  }
  const save = (stream: string, lines: Buffer, records: number) => {
    const target = openFile(stream)
    appendFileSync(target.file, lines)
    target.records += records
    target.bytes += lines.length
  }
  const close = (state: StateMessage) => {
    const { name } = state.stream.stream_descriptor
    closed.states.set(name, state)
    const finished = open.get(name)
    if (finished === undefined) return
    open.delete(name)
    closed.files.set(name, [...(closed.files.get(name) ?? []), finished.file])
    closed.records += finished.records
    closed.bytes += finished.bytes
  }

  /** Writes neighbours of one stream together; the answer is where the unfinished line begins. */
  const sort = (bytes: Buffer): number => {
    let run = { stream: '', from: 0, records: 0 }
    let at = 0
    const endRun = () => {
      if (run.records > 0) save(run.stream, bytes.subarray(run.from, at), run.records)
      run = { stream: '', from: at, records: 0 }
    }
    for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, at)) {
      const message = isHead(bytes, at) ? undefined : parse(bytes.subarray(at, end))
      const stream = message === undefined ? nameAt(bytes, at) : streamOfRecord(message)
      if (stream !== run.stream) endRun()
      if (stream !== '') run = { stream, from: run.from, records: run.records + 1 }
      else if (message?.type === 'STATE') close(message['state'] as StateMessage)
      else if (message !== undefined) onMessage(message)
      at = end + 1
      if (stream === '') run.from = at
    }
    endRun()
    return at
  }

  return {
    write(chunk) {
      const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
      rest = bytes.subarray(sort(bytes))
    },
    bytes: () => closed.bytes,
    take() {
      if (closed.states.size === 0) return undefined
      const taken = closed
      closed = empty()
      return taken
    },
    unfinished: () => [...open.keys()],
  }
}

function empty() {
  return {
    files: new Map<string, readonly string[]>(),
    states: new Map<string, unknown>(),
    records: 0,
    bytes: 0,
  }
}

function isHead(bytes: Buffer, at: number): boolean {
  const end = Math.min(at + HEAD.length, bytes.length)
  return bytes.compare(HEAD, 0, HEAD.length, at, end) === 0
}

function nameAt(bytes: Buffer, at: number): string {
  const name = at + HEAD.length
  return bytes.toString('latin1', name, bytes.indexOf(QUOTE, name))
}

function parse(line: Buffer): Message {
  return JSON.parse(line.toString('utf8')) as Message
}

/** The stream of a RECORD, and nothing for other messages. */
function streamOfRecord(message: Message): string {
  return message.type === 'RECORD' ? (message['record'] as { stream: string }).stream : ''
}
