import { type ChildProcess, spawn } from 'node:child_process'
import type { Trigger } from './trigger.ts'

/** How long a command that is asked to end may take. */
const STOP_MS = 15_000

/**
 * Runs a command by `sh -c`, which has synced when it exits with 0. What it writes goes to stderr. When
 * the signal is aborted, the command and all that it started get a SIGTERM, and after 15 seconds a SIGKILL.
 */
export function createRunTrigger(command: string, stopMs: number = STOP_MS): Trigger {
  return ({ streams, reason }, signal) =>
    new Promise((resolve) => {
      const child = spawn('sh', ['-c', command], {
        // A process group of its own: a signal for us is not one for it before we pass it on.
        detached: true,
        stdio: ['ignore', process.stderr, process.stderr],
        env: { ...process.env, PROTIME_STREAMS: streams.join(','), PROTIME_REASON: reason },
      })
      const stop = stopper(child, stopMs)
      signal.addEventListener('abort', stop.begin, { once: true })
      if (signal.aborted) stop.begin()
      const ended = (detail: string, isDone: boolean) => {
        signal.removeEventListener('abort', stop.begin)
        stop.finish()
        resolve({ result: isDone ? 'done' : 'failed', detail })
      }
      child.once('error', ({ message }) => ended(`it cannot be started: ${message}`, false))
      child.once('exit', (code, killedBy) =>
        ended(killedBy === null ? `exit code ${code}` : `ended by ${killedBy}`, code === 0),
      )
    })
}

/** Ends a process group, first by asking. */
function stopper({ pid }: ChildProcess, stopMs: number): { begin(): void; finish(): void } {
  let timer: NodeJS.Timeout | undefined
  return {
    begin() {
      send('SIGTERM')
      timer = setTimeout(send, stopMs, 'SIGKILL')
    },
    finish: () => clearTimeout(timer),
  }

  function send(signal: NodeJS.Signals): void {
    if (pid === undefined) return
    try {
      process.kill(-pid, signal)
    } catch {
      // It has just ended.
    }
  }
}
