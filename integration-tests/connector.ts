import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Message, protocolFaults } from './airbyte-message.ts'
import { platformFaults } from './platform-rules.ts'

const EXECUTABLE = fileURLToPath(new URL('../bin/source-protime', import.meta.url))

/** A stream of a configured catalog: its name, or the whole entry. */
export type Chosen = string | { readonly name: string; readonly sync_mode: string }

/** What a command is run with; objects are written to files, texts are written as they are. */
export interface Files {
  readonly config?: unknown
  readonly catalog?: readonly Chosen[]
  readonly state?: unknown
}

export interface RunOptions {
  /** Ends the process by SIGKILL as soon as so many lines have been read. */
  readonly killAfterLines?: number
  readonly environment?: Readonly<Record<string, string>>
  /** Leaves out the platform's rules, for runs that are meant to be cut off. */
  readonly isCut?: boolean
}

/** What a run of the executable said, in a form that tests can ask. */
export interface Run {
  readonly exitCode: number | null
  readonly signal: string | null
  readonly messages: readonly Message[]
  readonly stdout: string
  readonly stderr: string
  records(stream: string): Readonly<Record<string, unknown>>[]
  /** The state file for the next run: the last STATE of each stream. */
  readonly state: readonly object[]
  stateOf(stream: string): Readonly<Record<string, unknown>> | undefined
  readonly logs: readonly string[]
  readonly errors: readonly NonNullable<NonNullable<Message['trace']>['error']>[]
}

/**
 * Runs the real executable as a platform does, and judges every line by the protocol and by the
 * platform's rules; a line that breaks one is an error here, whatever the test is about.
 */
export async function run(
  command: 'spec' | 'check' | 'discover' | 'read',
  files: Files = {},
  options: RunOptions = {},
): Promise<Run> {
  const folder = mkdtempSync(join(tmpdir(), 'source-protime-'))
  try {
    const process = await spawnIn(folder, [command, ...flags(folder, files)], options)
    const result = toRun(process)
    const isCut = options.isCut ?? options.killAfterLines !== undefined
    const faults = result.messages.map(protocolFaults).filter(Boolean)
    if (command === 'read' && !isCut) {
      faults.push(...platformFaults(result, (files.catalog ?? []).map(nameOf)))
    }
    if (faults.length > 0)
      throw new Error(`the run breaks the protocol: ${faults.slice(0, 5).join('\n')}`)
    return result
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** A configured catalog as platforms write it. */
export function configuredCatalog(chosen: readonly Chosen[]): object {
  return {
    streams: chosen.map((entry) => ({
      stream: {
        name: nameOf(entry),
        json_schema: {},
        supported_sync_modes: ['full_refresh', 'incremental'],
      },
      sync_mode: typeof entry === 'string' ? 'incremental' : entry.sync_mode,
      destination_sync_mode: 'append_dedup',
    })),
  }
}

/** Reads the messages of the output; a line that is not JSON is an error. A cut last line is left out. */
export function parseLines(stdout: string): Message[] {
  const lines = stdout.split('\n')
  lines.pop()
  return lines.map((line) => JSON.parse(line) as Message)
}

/** The name of a stream of a catalog. */
export function nameOf(chosen: Chosen): string {
  return typeof chosen === 'string' ? chosen : chosen.name
}

function flags(folder: string, { config, catalog, state }: Files): string[] {
  const files = { config, catalog: catalog && configuredCatalog(catalog), state }
  return Object.entries(files).flatMap(([name, content]) => {
    if (content === undefined) return []
    const path = join(folder, `${name}.json`)
    writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
    return [`--${name}`, path]
  })
}

interface Ended {
  readonly exitCode: number | null
  readonly signal: string | null
  readonly stdout: string
  readonly stderr: string
}

function spawnIn(folder: string, args: readonly string[], options: RunOptions): Promise<Ended> {
  const { killAfterLines, environment } = options
  return new Promise((resolve, reject) => {
    const child = spawn(EXECUTABLE, args, { cwd: folder, env: { ...process.env, ...environment } })
    const out: Buffer[] = []
    const err: Buffer[] = []
    let lines = 0
    child.stdout.on('data', (chunk: Buffer) => {
      out.push(chunk)
      if (killAfterLines === undefined) return
      for (const byte of chunk) if (byte === 10) lines++
      if (lines >= killAfterLines) child.kill('SIGKILL')
    })
    child.stderr.on('data', (chunk: Buffer) => err.push(chunk))
    child.on('error', reject)
    child.on('close', (exitCode, signal) =>
      resolve({ exitCode, signal, stdout: text(out), stderr: text(err) }),
    )
  })
}

function text(chunks: readonly Buffer[]): string {
  return Buffer.concat(chunks).toString('utf8')
}

function toRun(ended: Ended): Run {
  const messages = parseLines(ended.stdout)
  const states = new Map<string, object>()
  for (const { state } of messages) {
    if (state !== undefined)
      states.set(state.stream.stream_descriptor.name, { type: 'STREAM', stream: state.stream })
  }
  return {
    ...ended,
    messages,
    records: (stream) =>
      messages.flatMap(({ record }) => (record?.stream === stream ? [record.data] : [])),
    state: [...states.values()],
    stateOf: (stream) =>
      messages.findLast(({ state }) => state?.stream.stream_descriptor.name === stream)?.state
        ?.stream.stream_state,
    logs: messages.flatMap(({ log }) => (log === undefined ? [] : [`${log.level} ${log.message}`])),
    errors: messages.flatMap(({ trace }) => (trace?.error === undefined ? [] : [trace.error])),
  }
}
