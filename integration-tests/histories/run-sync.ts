import { shortRetryPolicy } from '../../src/http/testing/virtual-time.ts'
import type { Message, SingerMessage } from '../../src/protocol/acceptance/messages.ts'
import { type AirbyteOptions, run, type SingerRun, tap } from '../testing/run.ts'
import type { Protocol } from './history.ts'

/** A stream that a sync is to read. */
interface SelectedStream {
  readonly name: string
  readonly sync_mode: 'full_refresh' | 'incremental'
  readonly generation?: number | undefined
  /** The columns that are selected; all of them if left out. */
  readonly columns?: readonly string[] | undefined
  /** The columns that are not. */
  readonly leftOut?: readonly string[] | undefined
}

/** What a sync is given. */
export interface SyncInput {
  readonly config: unknown
  readonly catalog: readonly SelectedStream[]
  /** The STATE messages of the platform, one for each stream. */
  readonly state: readonly object[]
  /** The line after which the sync dies; it lives if 0 or left out. */
  readonly killAfter?: number
  /** More words of the command line. */
  readonly words?: readonly string[]
  /** More variables of the process. */
  readonly environment?: Readonly<Record<string, string>>
}

/** A message of Airbyte, or what Singer says in its place. */
export interface SyncMessage extends Partial<Message> {
  /** Singer: rows of the stream that are of an older version are gone. */
  readonly activated?: { readonly stream: string; readonly version: number }
}

/** How a sync ended, in the words of Airbyte. */
export interface SyncRun {
  readonly exitCode: number | null
  readonly messages: readonly SyncMessage[]
  /** Of an output that was cut: how many messages came before the write that broke. */
  readonly whole: number | undefined
  /** The streams that were read to their end. */
  readonly completed: readonly string[]
  readonly errors: readonly string[]
  /** All that was logged. */
  readonly said: string
  /** All that was written: stdout and stderr. */
  readonly output: string
}

/** Attempts of a request that fails, in all; their waits cost no time. */
const ATTEMPTS = 6

/** How a sync of Airbyte is run there. */
export const inPlace: Readonly<Record<Exclude<Protocol, 'singer'>, AirbyteOptions>> = {
  'in-process': {
    program: 'source-protime',
    command: 'read',
    in: 'process',
    retryPolicy: shortRetryPolicy(ATTEMPTS),
  },
  executable: { program: 'source-protime', command: 'read' },
}

/** Runs a sync there, by the protocol that is spoken there. */
export function runSync(place: Protocol, input: SyncInput): Promise<SyncRun> {
  return place === 'singer' ? runSinger(input) : runAirbyte(inPlace[place], input)
}

async function runAirbyte(options: AirbyteOptions, input: SyncInput): Promise<SyncRun> {
  const outcome = await run({ ...options, ...input })
  const { exitCode, messages, whole } = outcome
  const errors = messages.flatMap(({ trace }) => trace?.error?.message ?? [])
  const logs = messages.flatMap(({ log }) => log?.message ?? [])
  return {
    ...{ exitCode, messages, whole, errors },
    completed: completed(messages),
    said: [...errors, ...logs].join('\n'),
    output: outcome.stdout + outcome.stderr,
  }
}

/** The streams that said that they are complete. */
export function completed(messages: readonly SyncMessage[]): string[] {
  return messages.flatMap(({ trace }) =>
    trace?.stream_status?.status === 'COMPLETE' ? [trace.stream_status.stream_descriptor.name] : [],
  )
}

async function runSinger({
  config,
  catalog,
  state,
  killAfter = 0,
  words = [],
  environment = {},
}: SyncInput): Promise<SyncRun> {
  const outcome = await tap({
    in: 'process',
    retryPolicy: shortRetryPolicy(ATTEMPTS),
    killAfter,
    words,
    environment,
    config,
    catalog: { streams: catalog.map(singerEntry) },
    state: { bookmarks: Object.fromEntries(state.map(bookmark)) },
  })
  const { exitCode, stderr, whole } = outcome
  const [messages, ends] = inAirbyte(outcome)
  const errors = stderr.split('\n').filter((line) => /\b(?:ERROR|CRITICAL)\b/.test(line))
  return {
    ...{ exitCode, messages, errors, said: stderr, output: outcome.stdout + stderr },
    whole: whole === undefined ? undefined : (ends[whole - 1] ?? 0),
    completed: exitCode === 0 && whole === undefined ? catalog.map(({ name }) => name) : [],
  }
}

function singerEntry({ name, leftOut = [] }: SelectedStream): object {
  const metadata = [
    { breadcrumb: [], metadata: { selected: true } },
    ...leftOut.map((column) => ({
      breadcrumb: ['properties', column],
      metadata: { selected: false },
    })),
  ]
  return { tap_stream_id: name, stream: name, schema: {}, metadata }
}

function bookmark(entry: object): [string, unknown] {
  const { stream } = entry as NonNullable<Message['state']>
  return [stream.stream_descriptor.name, stream.stream_state]
}

/** The messages of a tap, and how many of them each line and those before it have become. */
function inAirbyte({ messages }: SingerRun): [SyncMessage[], number[]] {
  const bookmarks = new Map<string, string>()
  const all: SyncMessage[] = []
  const ends = messages.map((message) => all.push(...oneInAirbyte(message, bookmarks)))
  return [all, ends]
}

function oneInAirbyte(message: SingerMessage, bookmarks: Map<string, string>): SyncMessage[] {
  if (message.type === 'SCHEMA') return []
  if (message.type === 'ACTIVATE_VERSION') return [{ activated: message }]
  if (message.type === 'RECORD') {
    const { _sdc_deleted_at, ...rest } = message.record
    const data = { ...rest, _ab_cdc_deleted_at: _sdc_deleted_at }
    return [{ record: { stream: message.stream, emitted_at: 0, data } }]
  }
  // Each STATE has the bookmarks of all streams.
  return Object.entries(message.value.bookmarks).flatMap(([name, stream_state]) => {
    const text = JSON.stringify(stream_state)
    if (bookmarks.get(name) === text) return []
    bookmarks.set(name, text)
    const stream = { stream_descriptor: { name }, stream_state }
    return [{ state: { type: 'STREAM', stream, sourceStats: { recordCount: 0 } } }]
  })
}
