import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { packageFolder } from './paths.ts'

/** A program of the package that runs in a process of its own, with its output to be read. */
export interface Program {
  readonly stdout: Readable
  /** What the program has written to stderr so far. */
  stderr(): string
  /** Ends with the exit code, or the name of the signal that ended the program. */
  readonly ended: Promise<number | string>
  /** Asks the program to end and waits until it has. */
  stop(): Promise<void>
}

/** Starts a file of `bin/`. The program is stopped when the signal is aborted. */
export function startProgram(name: string, args: readonly string[], signal: AbortSignal): Program {
  const file = join(packageFolder, 'bin', name)
  const child: ChildProcessByStdio<null, Readable, Readable> = spawn(
    process.execPath,
    [file, ...args],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  )
  let complaints = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaints += text
  })
  const kill = () => void child.kill('SIGTERM')
  signal.addEventListener('abort', kill, { once: true })
  const ended = once(child, 'close').then(([code, killedBy]) => {
    signal.removeEventListener('abort', kill)
    return (code ?? killedBy) as number | string
  })
  return {
    stdout: child.stdout,
    stderr: () => complaints,
    ended,
    async stop() {
      kill()
      await ended
    },
  }
}
