import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Writable } from 'node:stream'
import { onTestFinished } from 'vitest'
import type { RetryPolicy } from '../../src/http/retry.ts'
import { shortRetryPolicy } from '../../src/http/testing/virtual-time.ts'
import { airbyteFaults } from '../../src/protocol/acceptance/airbyte-faults.ts'
import type { Message, SingerMessage, SingerState } from '../../src/protocol/acceptance/messages.ts'
import { singerFaults } from '../../src/protocol/acceptance/singer-faults.ts'
import { airbyteStream } from '../../src/protocol/airbyte/configured-catalog.ts'
import { runAirbyte } from '../../src/protocol/airbyte/entrypoint.ts'
import type { Io } from '../../src/protocol/program.ts'
import { runSinger } from '../../src/protocol/singer/tap.ts'
import { createConnector } from '../../src/source/source-connector.ts'
import { streamSpec, streams } from '../../src/streams/streams.ts'
import { type Child, startChild } from './child.ts'
import { type Files, namesOf, temporaryFolder, writeFiles } from './files.ts'
import { type Collector, createCollector, createCutOutput } from './output.ts'
import { lastState } from './singer-messages.ts'

interface RunOptions extends Files {
  /** The real executable (default), or this process: milliseconds in place of a quarter of a second. */
  readonly in?: 'child' | 'process'
  /**
   * The output ends after so many lines (0: never): the process is killed by SIGKILL, or the
   * reader of the one that runs here leaves. What came later has nobody who read it.
   */
  readonly killAfter?: number
  /** Takes stdout in place of the run, which then checks nothing and has no messages. */
  readonly stdout?: Writable
  /** Takes stderr in place of a run in this process. */
  readonly stderr?: Io['stderr']
  /** More words of the command line. */
  readonly words?: readonly string[]
  /** More variables of the process. */
  readonly environment?: Readonly<Record<string, string>>
  /** Other JSON files in the folder in which the process runs, by name. */
  readonly beside?: Readonly<Record<string, unknown>>
  /** Puts stderr into stdout of the process; nothing is checked. */
  readonly isMerged?: boolean
  /** How long a run in this process waits for the service; its waits cost no time. */
  readonly retryPolicy?: RetryPolicy
}

export interface AirbyteOptions extends RunOptions {
  readonly program: 'source-protime'
  readonly command: 'spec' | 'check' | 'discover' | 'read'
}

export interface SingerOptions extends RunOptions {
  readonly program: 'tap-protime'
  /** In place of a sync: an option such as `--discover`, whose output is no messages. */
  readonly command?: string
}

/** How a run ended, and what it said. */
interface Ended {
  readonly exitCode: number | null
  readonly signal: string | null
  readonly stdout: string
  readonly stderr: string
  /** Of an output that was cut: how many lines came before the write that broke. */
  readonly whole: number | undefined
}

type Row = Readonly<Record<string, unknown>>

/** A run of source-protime, in a form that tests can ask. */
export interface AirbyteRun extends Ended {
  readonly messages: readonly Message[]
  readonly errors: readonly NonNullable<NonNullable<Message['trace']>['error']>[]
  /** Level and text. */
  readonly logs: readonly string[]
  /** The state file for the next run: the last STATE of each stream. */
  readonly state: readonly object[]
  /** The blobs of the STATE messages of a stream, in their order. */
  states(stream: string): Row[]
  records(stream: string): Row[]
}

/** A run of tap-protime. */
export interface SingerRun extends Ended {
  readonly messages: readonly SingerMessage[]
  /** The last STATE, which a runner stores. */
  readonly state: SingerState | undefined
  records(stream: string): Row[]
}

/**
 * Runs a program as a platform does, to its end. Whatever the test is about, an output that breaks a
 * rule of the program's protocol is an error.
 */
export async function run(options: AirbyteOptions): Promise<AirbyteRun>
export async function run(options: SingerOptions): Promise<SingerRun>
export async function run(options: AirbyteOptions | SingerOptions) {
  const folder = temporaryFolder()
  try {
    const args = argumentsOf(folder.path, options)
    const ended =
      options.in === 'process'
        ? await runHere(args, options)
        : await runChild(args, folder.path, options)
    return options.program === 'source-protime'
      ? toAirbyteRun(ended, options)
      : toSingerRun(ended, options)
  } finally {
    folder.remove()
  }
}

/** Runs tap-protime: a sync, or what its command says. */
export function tap(options: Omit<SingerOptions, 'program'>): Promise<SingerRun> {
  return run({ program: 'tap-protime', ...options })
}

/** Starts the real executable and leaves it running; nothing of what it says is checked. */
export function start(options: AirbyteOptions | SingerOptions): Child {
  const folder = temporaryFolder()
  const child = startChild(options.program, argumentsOf(folder.path, options), {
    ...options,
    cwd: folder.path,
  })
  child.child.on('close', folder.remove)
  return child
}

function argumentsOf(folder: string, options: AirbyteOptions | SingerOptions): string[] {
  const { command, words = [], beside = {} } = options
  for (const [name, content] of Object.entries(beside))
    writeFileSync(join(folder, name), JSON.stringify(content))
  return [...(command === undefined ? [] : [command]), ...writeFiles(folder, options), ...words]
}

async function runChild(
  args: readonly string[],
  folder: string,
  options: AirbyteOptions | SingerOptions,
): Promise<Ended> {
  const { program, killAfter = 0 } = options
  const child = startChild(program, args, { ...options, cwd: folder })
  let lines = 0
  if (killAfter > 0) {
    child.child.stdout?.on('data', (chunk: Buffer) => {
      for (const byte of chunk) if (byte === 10) lines++
      if (lines >= killAfter) child.child.kill('SIGKILL')
    })
  }
  const end = await child.ended
  // Nobody can tell one write of a process from the next.
  return killAfter > 0 && lines >= killAfter
    ? { ...end, stdout: firstLines(end.stdout, killAfter), whole: 0 }
    : { ...end, whole: undefined }
}

async function runHere(
  args: readonly string[],
  {
    program,
    killAfter = 0,
    stdout,
    stderr,
    environment = {},
    retryPolicy = shortRetryPolicy(),
  }: AirbyteOptions | SingerOptions,
): Promise<Ended> {
  const cut = killAfter > 0 ? createCutOutput(killAfter) : undefined
  const output = cut ?? createCollector()
  const said = createCollector()
  const env = { ...process.env, ...environment }
  const io = { stdout: stdout ?? output, stderr: stderr ?? said, env }
  const exitCode = await RUN[program](args, retryPolicy, io)
  const whole = cut?.wholeLines()
  return { exitCode, signal: null, stdout: output.text(), stderr: said.text(), whole }
}

type RunProgram = (args: readonly string[], retryPolicy: RetryPolicy, io: Io) => Promise<number>

const RUN: Readonly<Record<(AirbyteOptions | SingerOptions)['program'], RunProgram>> = {
  'source-protime': (args, retryPolicy, io) => runAirbyte(args, createConnector(retryPolicy), io),
  'tap-protime': (args, retryPolicy, io) => runSinger(args, createConnector(retryPolicy), io),
}

function toAirbyteRun(ended: Ended, options: AirbyteOptions): AirbyteRun {
  const { command, config } = options
  const messages = isChecked(options) ? parseLines<Message>(ended.stdout) : []
  const isCut = isCutOff(ended)
  if (isChecked(options)) {
    const catalog = offered(options.catalog)
    refuse(airbyteFaults({ ...ended, catalog, secrets: secretsIn(config), isCut }, command))
  }
  const states = new Map<string, object>()
  for (const { state } of messages) {
    if (state !== undefined)
      states.set(state.stream.stream_descriptor.name, { type: 'STREAM', stream: state.stream })
  }
  return {
    ...ended,
    messages,
    errors: messages.flatMap(({ trace }) => trace?.error ?? []),
    logs: messages.flatMap(({ log }) => (log === undefined ? [] : [`${log.level} ${log.message}`])),
    state: [...states.values()],
    states: (stream) =>
      messages.flatMap(({ state }) =>
        state?.stream.stream_descriptor.name === stream ? [state.stream.stream_state] : [],
      ),
    records: (stream) =>
      messages.flatMap(({ record }) => (record?.stream === stream ? [record.data] : [])),
  }
}

function toSingerRun(ended: Ended, options: SingerOptions): SingerRun {
  const isSync = options.command === undefined && isChecked(options)
  const messages = isSync ? parseLines<SingerMessage>(ended.stdout) : []
  if (isSync)
    refuse(singerFaults({ ...ended, secrets: secretsIn(options.config), isCut: isCutOff(ended) }))
  return {
    ...ended,
    messages,
    state: lastState(messages),
    records: (stream) =>
      messages.flatMap((one) =>
        one.type === 'RECORD' && one.stream === stream ? [one.record] : [],
      ),
  }
}

/** The streams of a catalog, with the keys and the columns of the connector that it would offer. */
function offered(catalog: Files['catalog']): { readonly streams: readonly object[] } {
  return {
    streams: namesOf(catalog).map((name) => {
      const stream = streams.get(name)
      if (stream === undefined) return { name }
      const { key, isIncremental = false } = streamSpec(stream)
      return airbyteStream({ name, schema: {}, key, isIncremental })
    }),
  }
}

function secretsIn(config: unknown): string[] {
  const { client_secret: secret } = (config ?? {}) as { client_secret?: unknown }
  return typeof secret === 'string' ? [secret] : []
}

function isChecked({ stdout, isMerged = false }: RunOptions): boolean {
  return stdout === undefined && !isMerged
}

function isCutOff({ signal, whole }: Ended): boolean {
  return signal !== null || whole !== undefined
}

function refuse(faults: readonly string[]): void {
  if (faults.length > 0)
    throw new Error(`the run breaks the protocol: ${faults.slice(0, 5).join('\n')}`)
}

/** The messages of an output; a line that is no JSON is an error. A cut last line is left out. */
export function parseLines<T = Message>(stdout: string): T[] {
  const lines = stdout.split('\n')
  lines.pop()
  return lines.map((line) => JSON.parse(line) as T)
}

function firstLines(text: string, lines: number): string {
  return text.split('\n').slice(0, lines).concat('').join('\n')
}

/** What a program of a connector runs with, beside the process's own. */
interface Surroundings {
  readonly stdout?: Collector
  readonly env?: Readonly<Record<string, string>>
}

/** Runs a program of a connector in this process; objects among the words are written to files. */
export async function runConnector<Connector, More extends object = object>(
  program: (
    argv: readonly string[],
    connector: Connector,
    io: Required<Surroundings> & More & { readonly stderr: Collector },
  ) => Promise<number>,
  connector: Connector,
  words: readonly (string | object)[],
  { stdout = createCollector(), env = {}, ...more }: Surroundings & More = {} as More,
) {
  const folder = temporaryFolder()
  onTestFinished(folder.remove)
  const argv = words.map((word, i) => {
    if (typeof word === 'string') return word
    const file = join(folder.path, `${i}.json`)
    writeFileSync(file, JSON.stringify(word))
    return file
  })
  const stderr = createCollector()
  const io = { ...(more as unknown as More), stdout, stderr, env }
  const exitCode = await program(argv, connector, io)
  return { exitCode, stdout: stdout.text(), stderr: stderr.text() }
}
