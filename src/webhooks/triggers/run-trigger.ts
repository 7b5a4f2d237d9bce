import { spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Trigger, TriggerOutcome } from '../serve/sync-scheduler.ts'

/** How long processes may take to end after SIGTERM. */
const STOP_MS = 15_000
/** How long the system may take to end killed processes. */
const KILLED_MS = 1000
/** How often to check meanwhile. */
const LOOK_MS = 100
/** How often to check for processes that outlive their shell. */
const LOOK_AFTER_MS = 1000

/**
 * Runs a command with `sh -c`; it has synced if its exit code is 0. Its output goes to stderr. When the
 * signal is aborted, the command and all processes that it started get a SIGTERM, and after 15 seconds a
 * SIGKILL, even if the shell has already ended.
 */
export function createRunTrigger(command: string, stopMs: number = STOP_MS): Trigger {
  /** Processes that ended shells have left behind. */
  const left = new Set<ProcessGroup>()
  // The system refuses some commands at once, for example if there is no memory for another process.
  const start: Trigger = (...order) => run(...order).catch(notStarted)
  return Object.assign(start, { stopped })

  function run(...[{ streams, reason }, signal]: Parameters<Trigger>): ReturnType<Trigger> {
    return new Promise((resolve) => {
      const child = spawn('sh', ['-c', command], {
        // A separate process group: a signal for us reaches it only when we pass it on.
        detached: true,
        stdio: ['ignore', process.stderr, process.stderr],
        env: { ...process.env, PROTIME_STREAMS: streams.join(','), PROTIME_REASON: reason },
      })
      const group = createProcessGroup(child.pid, signal, stopMs)
      const ended = (outcome: TriggerOutcome) => {
        group.watch()
        left.add(group)
        const over = group.over.then(() => left.delete(group))
        resolve(signal.aborted ? over.then(() => outcome) : outcome)
      }
      child.once('error', (error) => ended(notStarted(error)))
      child.once('exit', (code, killedBy) => {
        const detail = killedBy === null ? `exit code ${code}` : `ended by ${killedBy}`
        ended({ result: code === 0 ? 'done' : 'failed', detail })
      })
    })
  }

  async function stopped(): Promise<void> {
    await Promise.all([...left].map(({ over }) => over))
  }
}

function notStarted({ message }: Error): TriggerOutcome {
  return { result: 'failed', detail: `it cannot be started: ${message}` }
}

/** A command and all processes that it has started. */
interface ProcessGroup {
  /** Resolves when all of them have ended or were killed. */
  readonly over: Promise<void>
  /** From now on, checks whether it has ended: its shell has. */
  watch(): void
}

function createProcessGroup(
  pid: number | undefined,
  signal: AbortSignal,
  stopMs: number,
): ProcessGroup {
  let finish = () => {}
  let timer: NodeJS.Timeout | undefined
  const over = new Promise<void>((resolve) => {
    finish = () => {
      clearInterval(timer)
      signal.removeEventListener('abort', onAbort)
      resolve()
    }
  })
  const onAbort = () => void stop().then(finish)
  signal.addEventListener('abort', onAbort, { once: true })
  if (signal.aborted) onAbort()
  return { over, watch }

  function watch(): void {
    if (pid === undefined || !isAlive(pid)) finish()
    else timer = setInterval(() => isAlive(pid) || finish(), LOOK_AFTER_MS).unref()
  }

  async function stop(): Promise<void> {
    if (pid === undefined) return
    send(pid, 'SIGTERM')
    await gone(pid, stopMs)
    if (send(pid, 'SIGKILL')) await gone(pid, KILLED_MS)
  }
}

async function gone(group: number, withinMs: number): Promise<void> {
  const late = performance.now() + withinMs
  while (isAlive(group) && performance.now() < late) await sleep(LOOK_MS)
}

/** Returns whether a process got it. */
function send(group: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(-group, signal)
  } catch {
    return false
  }
}

/**
 * Whether some process of a group has not ended. If this process is the first one of a container, nothing
 * collects ended processes, and signals still reach them.
 */
function isAlive(group: number): boolean {
  return send(group, 0) && (processGroups()?.has(group) ?? true)
}

/** The groups of all processes that have not ended, if the system has `/proc`. */
function processGroups(): Set<number> | undefined {
  try {
    const stats = readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? statOf(name) : []))
    return new Set(stats.filter(({ state }) => state !== 'Z').map(({ group }) => group))
  } catch {
    return undefined
  }
}

function statOf(pid: string): { readonly state: string; readonly group: number }[] {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // After the name of the program, which may contain spaces and parentheses.
    const [, state = '', , group] = text.slice(text.lastIndexOf(')')).split(' ')
    return [{ state, group: Number(group) }]
  } catch {
    // The process has just ended.
    return []
  }
}
