import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { createConnector } from '../../src/connector.ts'
import type { RetryPolicy } from '../../src/http/retry-policy.ts'
import { shortRetryPolicy } from '../../src/http/testing/short-retry-policy.ts'
import { runAirbyte } from '../../src/protocol/airbyte/cli.ts'
import { type Message, protocolFaults } from '../airbyte-message.ts'
import { type Chosen, configuredCatalog, parseLines } from '../connector.ts'
import { platformFaults } from '../platform-rules.ts'

/** What a run said. */
export interface Heard {
  readonly exitCode: number
  readonly stdout: string
  readonly messages: readonly Message[]
  readonly errors: readonly NonNullable<NonNullable<Message['trace']>['error']>[]
  readonly logs: readonly string[]
  /** The blobs of the STATE messages of a stream, in their order. */
  states(stream: string): Readonly<Record<string, unknown>>[]
  records(stream: string): Readonly<Record<string, unknown>>[]
}

export interface Files {
  readonly config: object
  readonly catalog?: readonly Chosen[]
  readonly state?: unknown
}

/**
 * Runs a command in this process, which takes milliseconds where the executable takes a quarter of
 * a second; what it says is judged by the protocol and the platform's rules.
 */
export async function runInProcess(
  command: 'check' | 'discover' | 'read',
  { config, catalog, state }: Files,
  patience: RetryPolicy = shortRetryPolicy(),
): Promise<Heard> {
  const folder = mkdtempSync(join(tmpdir(), 'hostile-'))
  try {
    const argv: string[] = [command]
    const files = { config, catalog: catalog && configuredCatalog(catalog), state }
    for (const [name, content] of Object.entries(files)) {
      if (content === undefined) continue
      const path = join(folder, `${name}.json`)
      writeFileSync(path, JSON.stringify(content))
      argv.push(`--${name}`, path)
    }
    const chunks: Buffer[] = []
    const stdout = new Writable({
      write(chunk: Buffer, _encoding, done) {
        chunks.push(Buffer.from(chunk))
        done()
      },
    })
    const exitCode = await runAirbyte(argv, createConnector(patience), { stdout })
    return judged(heard(exitCode, Buffer.concat(chunks).toString()), command, catalog ?? [])
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function heard(exitCode: number, stdout: string): Heard {
  const messages = parseLines(stdout)
  return {
    exitCode,
    stdout,
    messages,
    errors: messages.flatMap(({ trace }) => (trace?.error === undefined ? [] : [trace.error])),
    logs: messages.flatMap(({ log }) => (log === undefined ? [] : [`${log.level} ${log.message}`])),
    states: (stream) =>
      messages.flatMap(({ state }) =>
        state?.stream.stream_descriptor.name === stream ? [state.stream.stream_state] : [],
      ),
    records: (stream) =>
      messages.flatMap(({ record }) => (record?.stream === stream ? [record.data] : [])),
  }
}

function judged(result: Heard, command: string, catalog: readonly Chosen[]): Heard {
  const faults = result.messages.map(protocolFaults).filter(Boolean)
  if (command === 'read') {
    const names = catalog.map((chosen) => (typeof chosen === 'string' ? chosen : chosen.name))
    faults.push(...platformFaults(result, names))
  }
  if (faults.length > 0)
    throw new Error(`the run breaks the protocol: ${faults.slice(0, 5).join('\n')}`)
  return result
}
