import { closeSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'

/** A message that is no RECORD. */
export type Message = Readonly<Record<string, unknown>> & { readonly type: string }

/** Sorts the output of a connector: RECORD lines to a file per stream, everything else to a listener. */
export interface RecordFiles {
  /** Takes the next bytes, lines may be cut anywhere. */
  write(chunk: Buffer): void
  /** The file of a stream, if there were records of it. */
  file(stream: string): string | undefined
  /** Closes the files; a last line without its end is an error. */
  close(): void
}

export interface RecordFilesSettings {
  readonly folder: string
  readonly onRecords: (stream: string, count: number) => void
  readonly onMessage: (message: Message) => void
}

const NEWLINE = 10
const QUOTE = 34
// How nearly every line of a connector begins; other spellings of the same message are parsed.
const HEAD = Buffer.from('{"type":"RECORD","record":{"stream":"')

interface Target {
  readonly path: string
  readonly descriptor: number
}

/** Files are written at once and by the page cache's grace: the pipe's own limit holds the connector back. */
export function createRecordFiles({
  folder,
  onRecords,
  onMessage,
}: RecordFilesSettings): RecordFiles {
  const targets = new Map<string, Target>()
  let rest: Buffer = Buffer.alloc(0)

  const target = (stream: string): Target => {
    const known = targets.get(stream)
    if (known) return known
    const path = join(folder, `${stream}.ndjson`)
    const opened = { path, descriptor: openSync(path, 'w') }
    targets.set(stream, opened)
    return opened
  }
  const save = (stream: string, lines: Buffer, count: number) => {
    if (count === 0) return
    writeSync(target(stream).descriptor, lines)
    onRecords(stream, count)
  }

  /** Writes neighbours of one stream together; the answer is where the unfinished line begins. */
  const sort = (bytes: Buffer): number => {
    const run = { stream: '', from: 0, count: 0 }
    let at = 0
    for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, at)) {
      const stream = streamOf(bytes, at) ?? streamOfParsed(bytes, at, end, onMessage)
      if (stream !== run.stream) {
        save(run.stream, bytes.subarray(run.from, at), run.count)
        Object.assign(run, { stream, from: at, count: 0 })
      }
      if (stream !== '') run.count += 1
      at = end + 1
    }
    save(run.stream, bytes.subarray(run.from, at), run.count)
    return at
  }

  return {
    write(chunk) {
      const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
      rest = bytes.subarray(sort(bytes))
    },
    file: (stream) => targets.get(stream)?.path,
    close() {
      for (const { descriptor } of targets.values()) closeSync(descriptor)
      if (rest.length > 0) throw new Error('The output of the connector ends within a line')
    },
  }
}

function streamOf(bytes: Buffer, at: number): string | undefined {
  const name = at + HEAD.length
  if (bytes.compare(HEAD, 0, HEAD.length, at, Math.min(name, bytes.length)) !== 0) return undefined
  return bytes.toString('latin1', name, bytes.indexOf(QUOTE, name))
}

function streamOfParsed(
  bytes: Buffer,
  from: number,
  end: number,
  onMessage: (message: Message) => void,
): string {
  const message = JSON.parse(bytes.toString('utf8', from, end)) as Message
  if (message.type === 'RECORD') return (message['record'] as { stream: string }).stream
  onMessage(message)
  return ''
}
