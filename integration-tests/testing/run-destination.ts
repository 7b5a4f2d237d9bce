import { Readable } from 'node:stream'
import { expect } from 'vitest'
import { createDestinationConnector } from '../../src/destination/destination-connector.ts'
import { shortRetryPolicy } from '../../src/http/testing/virtual-time.ts'
import { protocolFaults } from '../../src/protocol/acceptance/airbyte-faults.ts'
import type { Message } from '../../src/protocol/acceptance/messages.ts'
import { runAirbyteDestination } from '../../src/protocol/airbyte/entrypoint.ts'
import { runSingerTarget } from '../../src/protocol/singer/target.ts'
import { temporaryFolder, writeFiles } from './files.ts'
import { createCollector } from './output.ts'
import { parseLines } from './run.ts'

type Row = Readonly<Record<string, unknown>>

/** A stream of a configured catalog, with what differs from an incremental append. */
export interface WrittenStream {
  readonly name: string
  readonly [member: string]: unknown
}

/** A record as a source sends it. */
export function record(stream: string, data: Row): object {
  return { type: 'RECORD', record: { stream, emitted_at: 1, data } }
}

/** A state of one stream. */
export function state(stream: string, at: unknown): object {
  const stream_descriptor = { name: stream }
  return {
    type: 'STATE',
    state: { type: 'STREAM', stream: { stream_descriptor, stream_state: { at } } },
  }
}

/** The status of a stream that was read to its end. */
export function complete(stream: string): object {
  const stream_status = { stream_descriptor: { name: stream }, status: 'COMPLETE' }
  return { type: 'TRACE', trace: { type: 'STREAM_STATUS', emitted_at: 1, stream_status } }
}

/** The lines of an input. */
export function linesOf(messages: readonly object[]): string {
  return messages.map((message) => `${JSON.stringify(message)}\n`).join('')
}

/** A configured catalog as the platform writes it for a destination. */
export function writtenCatalog(streams: readonly WrittenStream[]): object {
  return {
    streams: streams.map(({ name, ...more }) => ({
      stream: { name, json_schema: {}, supported_sync_modes: ['full_refresh', 'incremental'] },
      sync_mode: 'incremental',
      destination_sync_mode: 'append_dedup',
      ...more,
    })),
  }
}

/** How destination-protime ended, and what it said. */
export interface DestinationRun {
  readonly exitCode: number
  readonly stdout: string
  readonly messages: readonly Message[]
  readonly states: readonly NonNullable<Message['state']>[]
  /** Level and text. */
  readonly logs: readonly string[]
  readonly errors: readonly string[]
}

/** Runs destination-protime in this process; every message has to be one of the protocol. */
export async function runDestination(
  command: 'check' | 'discover' | 'write',
  config: unknown,
  {
    streams = [],
    input = [],
  }: {
    readonly streams?: readonly WrittenStream[]
    readonly input?: readonly object[] | Buffer
  } = {},
): Promise<DestinationRun> {
  const files = { config, ...(command === 'write' && { catalog: writtenCatalog(streams) }) }
  const { exitCode, stdout, stderr } = await runHere(runAirbyteDestination, [command], files, input)
  const messages = parseLines(stdout)
  expect([...messages.map(protocolFaults), stderr].filter(Boolean)).toEqual([])
  return {
    exitCode,
    stdout,
    messages,
    states: messages.flatMap(({ state }) => state ?? []),
    logs: messages.flatMap(({ log }) => (log === undefined ? [] : [`${log.level} ${log.message}`])),
    errors: messages.flatMap(({ trace }) => trace?.error?.message ?? []),
  }
}

/** Runs target-protime in this process. */
export function runTarget(config: unknown, input: readonly object[] | Buffer) {
  return runHere(runSingerTarget, [], { config }, input)
}

async function runHere(
  program: typeof runAirbyteDestination | typeof runSingerTarget,
  words: readonly string[],
  files: Parameters<typeof writeFiles>[1],
  input: readonly object[] | Buffer,
) {
  const folder = temporaryFolder()
  const [stdout, stderr] = [createCollector(), createCollector()]
  try {
    const exitCode = await program(
      [...words, ...writeFiles(folder.path, files)],
      createDestinationConnector(shortRetryPolicy()),
      {
        stdin: Readable.from([Buffer.isBuffer(input) ? input : linesOf(input)]),
        stdout,
        stderr,
        env: {},
      },
    )
    return { exitCode, stdout: stdout.text(), stderr: stderr.text() }
  } finally {
    folder.remove()
  }
}
