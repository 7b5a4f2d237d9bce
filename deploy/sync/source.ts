import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import type { CatalogStream } from '../../scripts/demo/columns.ts'
import type { Message } from './checkpoints.ts'
import { type Failure, type FailureType, SyncError } from './failure.ts'

/** A process of the source, with its output to be read. */
export interface Source {
  readonly stdout: Readable & AsyncIterable<Buffer>
  /** The exit code, or the name of the signal that ended it. A program that is missing rejects. */
  readonly ended: Promise<number | string>
  /** Asks it to stop; its last states are still to be read. */
  stop(): void
}

/** Starts the program `source-protime`; what it says on stderr goes to ours. */
export function startSource(program: string, args: readonly string[]): Source {
  const child: ChildProcessByStdio<null, Readable, null> = spawn(program, args, {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(child, 'close').then(
    ([code, signal]) => (code ?? signal) as number | string,
    (error: Error) => {
      throw new SyncError('config', `${program} cannot be started: ${error.message}`)
    },
  )
  // It is awaited after the output was read.
  ended.catch(() => undefined)
  return {
    stdout: child.stdout as Readable & AsyncIterable<Buffer>,
    ended,
    stop: () => void child.kill('SIGTERM'),
  }
}

/** All streams that the source offers with this configuration. Throws what the source says. */
export async function discover(program: string, config: string): Promise<readonly CatalogStream[]> {
  const { stdout, ended } = startSource(program, ['discover', '--config', config])
  const output = await text(stdout)
  const code = await ended
  const messages = output
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Message)
  const [failure] = messages.flatMap(failuresOf)
  if (failure !== undefined) throw new SyncError(failure.type, failure.message)
  const catalog = messages.find(({ type }) => type === 'CATALOG')?.['catalog']
  if (catalog === undefined || code !== 0)
    throw new SyncError('transient', `${program} discover ended with ${code}`)
  return (catalog as { streams: CatalogStream[] }).streams
}

/** The catalog of a read that sends every change of these streams once. */
export function configuredCatalog(streams: readonly CatalogStream[]): object {
  return {
    streams: streams.map((stream) => ({
      stream,
      sync_mode: 'incremental',
      destination_sync_mode: 'append_dedup',
      cursor_field: stream.default_cursor_field,
      primary_key: stream.source_defined_primary_key,
      generation_id: 1,
      minimum_generation_id: 0,
      sync_id: 1,
    })),
  }
}

interface ErrorTrace {
  readonly message: string
  readonly failure_type?: `${FailureType}_error`
  readonly stream_descriptor?: { readonly name: string }
}

/** The failure that a message reports; most report none. */
export function failuresOf({ trace }: Message): Failure[] {
  const { error } = (trace ?? {}) as { error?: ErrorTrace }
  if (error === undefined) return []
  const { message, failure_type = 'system_error', stream_descriptor: stream } = error
  const type = failure_type.replace('_error', '') as FailureType
  return [{ type, message, ...(stream === undefined ? {} : { stream: stream.name }) }]
}
