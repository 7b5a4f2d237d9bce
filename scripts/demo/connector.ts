import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { startProgram } from './program.ts'
import { createRecordFiles, type Message, type RecordFiles } from './record-files.ts'

/** Runs a command of `bin/source-protime` that answers with a few messages, and returns them. */
export async function ask(args: readonly string[], signal: AbortSignal): Promise<Message[]> {
  const program = startProgram('source-protime', args, signal)
  const output = await text(program.stdout)
  const code = await program.ended
  signal.throwIfAborted()
  const messages = output
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Message)
  if (code !== 0) throw failed(args[0] ?? '', code, messages, program.stderr())
  return messages
}

/** What a sync has left. */
export interface Sync {
  readonly files: RecordFiles
  /** The last STATE of each stream, as the next sync takes them. */
  readonly states: readonly unknown[]
}

export interface ReadSettings {
  readonly args: readonly string[]
  /** The folder for the files of records. */
  readonly folder: string
  readonly onRecords: (stream: string, count: number) => void
  readonly signal: AbortSignal
}

/**
 * Runs a sync and keeps its output as a platform does: records for the destination, the last state of
 * each stream. Throws with the connector's own words when its exit code is not 0.
 */
export async function read({ args, folder, onRecords, signal }: ReadSettings): Promise<Sync> {
  const states = new Map<string, unknown>()
  const others: Message[] = []
  const onMessage = (message: Message) => {
    if (message.type === 'STATE') states.set(streamOf(message), message['state'])
    else others.push(message)
  }
  const program = startProgram('source-protime', ['read', ...args], signal)
  const files = createRecordFiles({ folder, onRecords, onMessage })
  for await (const chunk of program.stdout as Readable & AsyncIterable<Buffer>) files.write(chunk)
  const code = await program.ended
  signal.throwIfAborted()
  if (code !== 0) throw failed('read', code, others, program.stderr())
  files.close()
  return { files, states: [...states.values()] }
}

function streamOf(message: Message): string {
  const { stream } = message['state'] as { stream: { stream_descriptor: { name: string } } }
  return stream.stream_descriptor.name
}

function failed(
  command: string,
  code: number | string,
  messages: readonly Message[],
  stderr: string,
): Error {
  const errors = messages.flatMap((message) => {
    const trace = message['trace'] as { error?: { message: string } } | undefined
    return trace?.error === undefined ? [] : [trace.error.message]
  })
  const reason = [...errors, stderr.trim()].filter(Boolean).join('\n')
  return new Error(`source-protime ${command} ended with ${code}:\n${reason}`)
}
