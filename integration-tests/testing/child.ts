import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process'
import type { Writable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

/** The programs that people run. */
export type ProgramName =
  | 'source-protime'
  | 'tap-protime'
  | 'destination-protime'
  | 'target-protime'
  | 'protime'

/** The path of its executable. */
export function executableOf(program: ProgramName): string {
  return fileURLToPath(new URL(`../../bin/${program}`, import.meta.url))
}

/** How a process ended, and what it had said until then. */
interface End {
  readonly exitCode: number | null
  readonly signal: string | null
  readonly stdout: string
  readonly stderr: string
}

/** A process that is still running, with its output in the test's hands. */
export interface Child {
  readonly child: ChildProcess
  /** Everything that was read of stdout so far. */
  heard(): string
  /** How many bytes that is. */
  bytes(): number
  /** Stops reading, so that the pipe fills up. */
  pause(): void
  resume(): void
  /** Closes the reading end, as a program does that has died. */
  leave(): void
  /** When the process is gone: the signal that it died of, or its exit code. */
  readonly exited: Promise<string | number | null>
  /** When all of its output has been read, too. */
  readonly ended: Promise<End>
  /** Waits until the condition holds; rejects when the process ends before. */
  until(condition: () => boolean, what: string): Promise<void>
  /** Does what ends the process, and rejects unless its `end` (`ended` or `exited`) comes soon. */
  endsSoonAfter<T>(act: () => void, end: Promise<T>): Promise<T>
  /** Kills the process should it still run. */
  stop(): Promise<void>
}

export interface ChildOptions {
  readonly cwd: string
  readonly environment?: Readonly<Record<string, string>> | undefined
  /** Puts stderr into stdout, as `meltano config test` does. */
  readonly isMerged?: boolean | undefined
  /** Takes stdout, of which nothing is kept then. */
  readonly stdout?: Writable | undefined
  /** Makes stdin a pipe, which is nobody's else. */
  readonly hasInput?: boolean
}

/**
 * As long as a process may take to end. Where it took longer than a tenth of that from its start to
 * here, the machine is busy, and the end may take longer by as much.
 */
const SOON_MS = 3000
const STARTS = 10

/** Starts the real executable and leaves it running. */
export function startChild(
  program: ProgramName,
  args: readonly string[],
  { cwd, environment = {}, isMerged = false, stdout: target, hasInput = false }: ChildOptions,
): Child {
  const startedAt = performance.now()
  const executable = executableOf(program)
  // A shell makes both outputs one pipe; Node gives a child two.
  const [command, words] = isMerged
    ? ['sh', ['-c', 'exec "$0" "$@" 2>&1', executable, ...args]]
    : [executable, args]
  const stdio: StdioOptions = [hasInput ? 'pipe' : 'ignore', 'pipe', 'pipe']
  const child = spawn(command, words, { cwd, env: { ...process.env, ...environment }, stdio })
  const { stdout, stderr } = child
  if (stdout === null || stderr === null) throw new Error('the outputs are pipes')
  const out: Buffer[] = []
  const err: Buffer[] = []
  let bytes = 0
  if (target !== undefined) stdout.pipe(target)
  else {
    stdout.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      out.push(chunk)
    })
  }
  stderr.on('data', (chunk: Buffer) => err.push(chunk))
  const heard = () => Buffer.concat(out).toString()
  const ended = new Promise<End>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (exitCode, signal) =>
      resolve({ exitCode, signal, stdout: heard(), stderr: Buffer.concat(err).toString() }),
    )
  })
  const exited = new Promise<string | number | null>((resolve) => {
    child.on('exit', (exitCode, signal) => resolve(signal ?? exitCode))
  })
  return {
    child,
    heard,
    bytes: () => bytes,
    exited,
    pause: () => void stdout.pause(),
    resume: () => void stdout.resume(),
    leave: () => void stdout.destroy(),
    ended,
    async until(condition, what) {
      while (!condition()) {
        if (child.exitCode !== null || child.signalCode !== null)
          throw new Error(`the process ended before it came to this: ${what}`)
        await sleep(10)
      }
    },
    async endsSoonAfter(act, end) {
      const since = performance.now()
      const soonMs = Math.max(SOON_MS, STARTS * (since - startedAt))
      act()
      const late = sleep(soonMs, undefined, { ref: false }).then(() => {
        throw new Error(`it has not ended after ${Math.round(soonMs)} ms`)
      })
      return Promise.race([end, late])
    },
    async stop() {
      child.kill('SIGKILL')
      stdout.destroy()
      await ended
    },
  }
}
