import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { delimiter, dirname, join } from 'node:path'

/** How a program ended, and all it said. */
export interface Ended {
  readonly exitCode: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface Command {
  readonly program: string
  readonly args: readonly string[]
  readonly folder: string
  readonly environment?: Readonly<Record<string, string>>
  /** When it is killed, if it may take longer than others. */
  readonly limitMs?: number
}

/** Longer than any of these commands takes; what needs more hangs. */
export const LIMIT_MS = 600_000

/** Runs a program to its end; rejects only when it cannot be started. */
export function execute(command: Command): Promise<Ended> {
  const { program, args, folder, environment, limitMs = LIMIT_MS } = command
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      cwd: folder,
      env: { ...process.env, ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: limitMs,
    })
    const [stdout, stderr] = [collect(child.stdout), collect(child.stderr)]
    child.once('error', reject)
    child.once('close', (exitCode) => resolve({ exitCode, stdout: stdout(), stderr: stderr() }))
  })
}

/** The stdout of a program that must succeed; throws the end of what it said. */
export async function output(command: Command): Promise<string> {
  return outputOf(`${command.program} ${command.args.join(' ')}`, await execute(command))
}

/** The same of a program that has ended; `name` is what was run. */
export function outputOf(name: string, { exitCode, stdout, stderr }: Ended): string {
  if (exitCode === 0) return stdout
  throw new Error(`${name} ended with ${exitCode}:\n${`${stdout}\n${stderr}`.slice(-4000)}`)
}

function collect(stream: NodeJS.ReadableStream): () => string {
  const chunks: Buffer[] = []
  stream.on('data', (chunk: Buffer) => chunks.push(chunk))
  return () => Buffer.concat(chunks).toString('utf8')
}

/** A line of a program's output. */
export type PrintedAnswer = Readonly<Record<string, unknown>>

/** The lines of a program that has succeeded, as JSON; throws what it said when it has not. */
export function answersOf({ exitCode, stdout, stderr }: Ended): PrintedAnswer[] {
  if (exitCode !== 0)
    throw new Error(`exit code ${exitCode}\n${`${stdout}\n${stderr}`.slice(-2000)}`)
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as PrintedAnswer)
}

/** How many records of a stream came over the Airbyte protocol; without a stream, of all. */
export function countRecords(answers: readonly PrintedAnswer[], stream?: string): number {
  return answers.filter(({ type, record }) => {
    const wanted = stream === undefined || (record as { stream?: string })?.stream === stream
    return type === 'RECORD' && wanted
  }).length
}

/** The state file for the next run: the last STATE of each stream. */
export function lastStates(answers: readonly PrintedAnswer[]): unknown[] {
  const states = new Map<string, unknown>()
  for (const { type, state } of answers) {
    if (type !== 'STATE') continue
    const { stream } = state as { stream: { stream_descriptor: { name: string } } }
    states.set(stream.stream_descriptor.name, state)
  }
  return [...states.values()]
}

/** A configured catalog that reads these streams incrementally. */
export function catalogOf(streams: readonly string[]): object {
  return {
    streams: streams.map((name) => ({
      stream: { name, json_schema: {}, supported_sync_modes: ['full_refresh', 'incremental'] },
      sync_mode: 'incremental',
      destination_sync_mode: 'append_dedup',
    })),
  }
}

/** Throws both when they differ as JSON. */
export function expectSame(actual: unknown, expected: unknown): void {
  const [given, wanted] = [JSON.stringify(actual), JSON.stringify(expected)]
  if (given !== wanted) throw new Error(`${given} instead of ${wanted}`)
}

/** A shell of somebody who follows docs/install.md, in a folder and a Python environment of its own. */
export interface GuideShell {
  readonly folder: string
  /** Runs commands; answers with their stdout and throws what was said when one of them fails. */
  type(commands: string, environment?: Readonly<Record<string, string>>): Promise<string>
}

/**
 * Makes the folder and the environment. The scripts of `interpreters`, Python interpreters of other
 * environments, can be typed, too.
 */
export async function openGuideShell(
  folder: string,
  interpreters: readonly string[],
): Promise<GuideShell> {
  mkdirSync(folder)
  const [python = 'python3'] = interpreters
  const made = join(folder, 'venv')
  await output({ program: python, args: ['-m', 'venv', '--without-pip', made], folder })
  const bin = wrappers(folder, interpreters)
  // The pip of another environment installs into this one: to put one here takes longer than all that is installed with it.
  const pip = ['-m', 'pip', '--python', join(made, 'bin', 'python')]
  writeWrapper(join(bin, 'pip'), [python, ...pip])
  const path = [join(made, 'bin'), bin, process.env['PATH']]
  return {
    folder,
    type: (commands, environment = {}) =>
      output({
        program: 'sh',
        args: ['-e', '-c', commands],
        folder,
        environment: { ...environment, PATH: path.join(delimiter) },
      }),
  }
}

/** Their first lines name the folders in which their environments were made, so they are started by wrappers. */
function wrappers(folder: string, interpreters: readonly string[]): string {
  const made = join(folder, 'bin')
  mkdirSync(made)
  for (const interpreter of interpreters) {
    for (const name of ['target-jsonl', 'meltano']) {
      const script = join(dirname(interpreter), name)
      if (!existsSync(script)) continue
      writeWrapper(join(made, name), [interpreter, script])
    }
  }
  return made
}

/** A program that starts with these words. */
function writeWrapper(path: string, words: readonly string[]): void {
  writeFileSync(path, `#!/bin/sh\nexec ${words.map((word) => `'${word}'`).join(' ')} "$@"\n`)
  chmodSync(path, 0o755)
}

/** Makes the npm package of the clone, as it was built for the wheel, in `target`; answers with its path. */
export async function packNpm(projectFolder: string, target: string): Promise<string> {
  const args = ['pack', '--silent', '--ignore-scripts', '--pack-destination', target]
  return join(target, lastLine(await output({ program: 'npm', args, folder: projectFolder })))
}

function lastLine(text: string): string {
  return text.trim().split('\n').at(-1) ?? ''
}

/** Installs a package of Debian, without starting what is in it. */
export function installDebian(name: string): void {
  aptGet('update', '-qq')
  aptGet('install', '-y', '-qq', name)
}

function aptGet(...args: readonly string[]): void {
  // In the runlevel of a single user Debian starts no service of a package.
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' }
  execFileSync('apt-get', args, { stdio: ['ignore', 'ignore', 'inherit'], env })
}

/** A program that runs until it is killed. */
export interface Program {
  /** All that it said on stdout. */
  said(): string
  kill(signal?: NodeJS.Signals): Promise<void>
}

export interface ProgramOptions {
  readonly folder: string
  readonly environment: Readonly<Record<string, string>>
}

/** Runs a program, `exec` of a shell's line or a file of JavaScript. */
export function start(line: string, { folder, environment }: ProgramOptions): Program {
  const child = spawn('sh', ['-c', `exec ${line}`], {
    cwd: folder,
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(child, 'close')
  let said = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text
  })
  return {
    said: () => said,
    async kill(signal = 'SIGKILL') {
      child.kill(signal)
      await ended
    },
  }
}

/** A port of loopback that nobody listens on. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
