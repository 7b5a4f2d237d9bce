import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Row, type SingerMessage, type StateValue, singerFaults } from './message.ts'

const TAP = fileURLToPath(new URL('../../bin/tap-protime', import.meta.url))

/** What the tap is run with: objects are written to files, texts as they are. */
export interface TapFiles {
  readonly config?: unknown
  readonly catalog?: unknown
  readonly state?: unknown
}

export interface TapOptions {
  /** More words of the command line. */
  readonly words?: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  /** Other JSON files in the folder that the tap is run in, by name. */
  readonly beside?: Readonly<Record<string, unknown>>
  /** Puts stderr into stdout, as `meltano config test` does. */
  readonly isMerged?: boolean
  /** Called with everything that was said so far, each time something comes. */
  readonly onOutput?: (stdout: string, child: ChildProcess) => void
}

/** What a run said, in a form that tests can ask. */
export interface TapRun {
  readonly exitCode: number | null
  readonly signal: string | null
  readonly stdout: string
  readonly stderr: string
  readonly seconds: number
}

/** A sync: its output is messages and nothing else. */
export interface TapSync extends TapRun {
  readonly messages: readonly SingerMessage[]
  /** The last STATE, which a runner stores. */
  readonly state: StateValue | undefined
  records(stream: string): Row[]
}

/** Runs the real executable to its end. */
export async function runTap(files: TapFiles = {}, options: TapOptions = {}): Promise<TapRun> {
  const { words: more = [], environment, beside = {}, isMerged = false, onOutput } = options
  const folder = mkdtempSync(join(tmpdir(), 'tap-protime-'))
  const startedAt = performance.now()
  try {
    const args = [...flagsOf(folder, files), ...more]
    for (const [name, content] of Object.entries(beside))
      writeFileSync(join(folder, name), JSON.stringify(content))
    // A shell makes both outputs one pipe; Node gives a child two.
    const [program, words] = isMerged
      ? ['sh', ['-c', 'exec "$0" "$@" 2>&1', TAP, ...args]]
      : [TAP, args]
    const child = spawn(program, words, { cwd: folder, env: { ...process.env, ...environment } })
    let stdout = ''
    let stderr = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text
      onOutput?.(stdout, child)
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text
    })
    const [exitCode, signal] = await new Promise<[number | null, string | null]>(
      (resolve, reject) => {
        child.once('error', reject)
        child.once('close', (...end) => resolve(end))
      },
    )
    return { exitCode, signal, stdout, stderr, seconds: (performance.now() - startedAt) / 1000 }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** A sync by the real executable; a line that breaks a rule of Singer is an error here. */
export async function sync(files: TapFiles, options: TapOptions = {}): Promise<TapSync> {
  const run = await runTap(files, options)
  const messages = parseMessages(run.stdout)
  const faults = singerFaults(messages, run.signal === null && messages.length > 0)
  if (faults.length > 0) throw new Error(`the run breaks Singer: ${faults.slice(0, 5).join('\n')}`)
  return {
    ...run,
    messages,
    state: lastState(messages),
    records: (stream) =>
      messages.flatMap((one) =>
        one.type === 'RECORD' && one.stream === stream ? [one.record] : [],
      ),
  }
}

/** The messages of an output; a cut last line is left out, anything that is not JSON an error. */
export function parseMessages(stdout: string): SingerMessage[] {
  const lines = stdout.split('\n')
  lines.pop()
  return lines.map((line) => JSON.parse(line) as SingerMessage)
}

export function lastState(messages: readonly SingerMessage[]): StateValue | undefined {
  const last = messages.findLast(({ type }) => type === 'STATE')
  return last?.type === 'STATE' ? last.value : undefined
}

/** Writes the files of a command and answers with the options that name them. */
export function flagsOf(folder: string, files: TapFiles): string[] {
  return Object.entries(files).flatMap(([name, content]) => {
    if (content === undefined) return []
    const path = join(folder, `${name}.json`)
    writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
    return [`--${name}`, path]
  })
}
