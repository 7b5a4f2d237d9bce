import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseOutput, type Transcript } from './transcript.ts'

/** The files of a command; objects are written as JSON, texts as they are. */
export interface Files {
  readonly config?: unknown
  readonly catalog?: unknown
  readonly state?: unknown
}

export interface Circumstances {
  /** Where stdout goes: a pipe that is read at once or slowly, or a file (check, discover, spec). */
  readonly stdout?: 'pipe' | 'slow pipe' | 'file'
  /** Runs the command by `eval` in a shell that stands elsewhere, as the platform does. */
  readonly inShell?: boolean
  /** What happens once so many lines have come. */
  readonly after?: { readonly lines: number; readonly act: 'SIGTERM' | 'close' }
}

/** The variables that the platform sets (RuntimeEnvVarFactory). */
const ENVIRONMENT = {
  DEPLOYMENT_MODE: 'OSS',
  WORKER_CONNECTOR_IMAGE: 'source:dev',
  WORKER_JOB_ID: '1',
  WORKER_JOB_ATTEMPT: '0',
  USE_STREAM_CAPABLE_STATE: 'true',
}

/** The platform gives a command 9 minutes; what needs more than this hangs. */
const LIMIT_SECONDS = 120

/** How the evidence of a connector is taken. */
export type Execute = typeof execute

/** Runs one command of a connector to its end, in an empty folder that is gone afterwards. */
export async function execute(
  executable: string,
  command: string,
  files: Files = {},
  circumstances: Circumstances = {},
): Promise<Transcript> {
  const folder = mkdtempSync(join(tmpdir(), 'conformance-'))
  try {
    const args = [command, ...flags(folder, files)]
    return await transcribe({ executable, command, args, folder, circumstances })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function flags(folder: string, files: Files): string[] {
  return Object.entries(files).flatMap(([name, content]) => {
    if (content === undefined) return []
    const path = join(folder, `${name}.json`)
    writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
    return [`--${name}`, path]
  })
}

interface Job {
  readonly executable: string
  readonly command: string
  readonly args: readonly string[]
  readonly folder: string
  readonly circumstances: Circumstances
}

async function transcribe(job: Job): Promise<Transcript> {
  const { command, folder, circumstances } = job
  const file = join(folder, 'stdout')
  const output = circumstances.stdout === 'file' ? openSync(file, 'w') : undefined
  const startedAt = performance.now()
  const child = start(job, output)
  const ended = new Promise<[number | null, string | null]>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (exitCode, signal) => resolve([exitCode, signal]))
  })
  const killer = setTimeout(() => child.kill('SIGKILL'), LIMIT_SECONDS * 1000)
  const errors: Buffer[] = []
  child.stderr?.on('data', (chunk: Buffer) => errors.push(chunk))
  const heard = output === undefined ? await listen(child, circumstances, startedAt) : undefined
  const [exitCode, signal] = await ended
  clearTimeout(killer)
  if (output !== undefined) closeSync(output)
  const stdout = heard?.text ?? readFileSync(file, 'utf8')
  const lines = parseOutput(stdout)
  return {
    command,
    exitCode,
    signal,
    stdout,
    stderr: Buffer.concat(errors).toString(),
    lines,
    messages: lines.flatMap(({ message }) => message ?? []),
    seconds: secondsSince(heard?.actedAt ?? startedAt),
    longestPause: heard?.longestPause ?? 0,
  }
}

function start({ executable, args, folder, circumstances }: Job, output?: number): ChildProcess {
  const stdio = ['ignore' as const, output ?? ('pipe' as const), 'pipe' as const]
  if (circumstances.inShell !== true) {
    return spawn(executable, args, { cwd: folder, env: { ...process.env, ...ENVIRONMENT }, stdio })
  }
  const env = { ...process.env, ...ENVIRONMENT, AIRBYTE_ENTRYPOINT: executable }
  const line = `eval "$AIRBYTE_ENTRYPOINT ${args.join(' ')}"`
  return spawn('sh', ['-c', line], { cwd: '/', env, stdio })
}

/** Reads stdout to its end; slowly means that the pipe is full most of the time. */
async function listen(child: ChildProcess, { stdout, after }: Circumstances, startedAt: number) {
  const exited = new Promise((resolve) => child.once('exit', resolve))
  const chunks: Buffer[] = []
  let lines = 0
  let longestPause = 0
  let lastAt = startedAt
  let actedAt: number | undefined
  for await (const chunk of child.stdout as AsyncIterable<Buffer>) {
    longestPause = Math.max(longestPause, secondsSince(lastAt))
    lastAt = performance.now()
    chunks.push(chunk)
    for (const byte of chunk) if (byte === 10) lines++
    if (stdout === 'slow pipe') {
      if (chunks.length === 1) await untilFull(exited, startedAt)
      else await sleep(5)
    }
    if (after === undefined || lines < after.lines) continue
    actedAt ??= performance.now()
    if (after.act === 'close') break
    child.kill(after.act)
  }
  return { text: Buffer.concat(chunks).toString(), longestPause, actedAt }
}

/**
 * Leaves the pipe alone until the process must have filled it: it has ended, or has had as long as
 * it took from its start to its first line, which is longer on a busy machine.
 */
async function untilFull(exited: Promise<unknown>, startedAt: number): Promise<void> {
  const ms = Math.max(500, performance.now() - startedAt)
  await Promise.race([exited, sleep(ms, undefined, { ref: false })])
}

function secondsSince(at: number): number {
  return (performance.now() - at) / 1000
}
