import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { type Chosen, configuredCatalog } from './connector.ts'

export const EXECUTABLE = fileURLToPath(new URL('../bin/source-protime', import.meta.url))

/** How a process ended, and what it had said until then. */
export interface End {
  readonly exitCode: number | null
  readonly signal: string | null
  readonly stdout: string
  readonly stderr: string
}

/** A `read` that is still running, with its output in the test's hands. */
export interface LiveProcess {
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
  /** Kills the process should it still run, and takes its files away. */
  clear(): Promise<void>
}

/** Writes the files of a `read` into a folder and answers with its arguments. */
export function readArguments(
  folder: string,
  config: object,
  catalog: readonly Chosen[],
): string[] {
  const files = { config, catalog: configuredCatalog(catalog) }
  const options = Object.entries(files).flatMap(([name, content]) => {
    const path = join(folder, `${name}.json`)
    writeFileSync(path, JSON.stringify(content))
    return [`--${name}`, path]
  })
  return ['read', ...options]
}

/**
 * As long as a process may take to end. Where it took longer than a tenth of that from its start to
 * here, the machine is busy, and the end may take longer by as much.
 */
const SOON_MS = 3000
const STARTS = 10

/** Starts the real executable and leaves it running. */
export function startRead(config: object, catalog: readonly Chosen[]): LiveProcess {
  const folder = mkdtempSync(join(tmpdir(), 'live-'))
  const startedAt = performance.now()
  const child = spawn(EXECUTABLE, readArguments(folder, config, catalog), {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const out: Buffer[] = []
  const err: Buffer[] = []
  let bytes = 0
  child.stdout.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    out.push(chunk)
  })
  child.stderr.on('data', (chunk: Buffer) => err.push(chunk))
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
    pause: () => void child.stdout.pause(),
    resume: () => void child.stdout.resume(),
    leave: () => void child.stdout.destroy(),
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
    async clear() {
      child.kill('SIGKILL')
      child.stdout.destroy()
      await ended
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
