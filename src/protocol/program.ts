import { constants } from 'node:os'
import type { Writable } from 'node:stream'
import { InterruptedError } from '../ground/errors.ts'
import { warningOf, withId } from '../ground/message-ids.ts'
import { createLineWriter, type LineWriter, OutputClosedError } from './line-writer.ts'

/** How long queued lines may take to be written after a signal. */
const MAX_FLUSH_MS = 1500
/** SIGHUP comes when a terminal is closed or a connection is lost. Node does not let a parent have it ignored. */
const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const
type Signal = (typeof SIGNALS)[number]

/** Lets a command decide how signals end it. */
export interface Signals {
  /** Ends the process with the signal that it received, if there was one. */
  finish(): void
  /**
   * Lets the command handle signals: after a signal it has this many milliseconds to end with its own exit code; only
   * after that the signal ends the process.
   */
  allow(ms: number): void
}

/** The parts of `process` that are needed for signals. */
export type SignalledProcess = Pick<NodeJS.Process, 'on' | 'off' | 'kill' | 'exit' | 'pid'>

/**
 * Calls `stop` at the first SIGTERM, SIGINT or SIGHUP. The process then ends with this signal, as shells and PyAirbyte
 * expect: when `finish` is called after the last lines; after 1.5 seconds even if lines cannot be written, because
 * `meltano config test` stops reading and waits for the end; and at once at a second signal. This loses no state:
 * only a STATE that was read counts.
 */
export function onSignals(
  stop: (signal: Signal) => void,
  self: SignalledProcess = process,
): Signals {
  let received: Signal | undefined
  let isServing = false
  let mostMs = MAX_FLUSH_MS
  let timer: NodeJS.Timeout | undefined
  const onSignal = (signal: Signal) => {
    if (received !== undefined) return leave(received)
    received = signal
    timer = setTimeout(leave, mostMs, signal).unref()
    stop(signal)
  }
  for (const signal of SIGNALS) self.on(signal, onSignal)
  return {
    finish() {
      release()
      if (received !== undefined && !isServing) leave(received)
    },
    allow(ms) {
      isServing = true
      mostMs = ms
    },
  }

  function leave(signal: Signal): void {
    release()
    // In a container, the kernel does not deliver signals without a handler to the first process.
    if (self.pid === 1) self.exit(128 + constants.signals[signal])
    else self.kill(self.pid, signal)
  }

  function release(): void {
    clearTimeout(timer)
    for (const signal of SIGNALS) self.off(signal, onSignal)
  }
}

/** The parts of `process` that a program uses. */
export interface Io {
  readonly stdout: Writable & { readonly isTTY?: boolean }
  readonly stderr: Writable & {
    readonly isTTY?: boolean
    readonly columns?: number
    readonly rows?: number
  }
  readonly env: Readonly<Record<string, string | undefined>>
}

/** Fills in the missing parts from `process`. */
export function withProcessDefaults({
  stdout = process.stdout,
  stderr = process.stderr,
  env = process.env,
}: Partial<Io>): Io {
  return { stdout, stderr, env }
}

/** What a command of either protocol gets. */
export interface Program {
  readonly writer: LineWriter
  /** Aborted with an `InterruptedError` on SIGTERM, SIGINT or SIGHUP, or when the reader of stdout is gone. */
  readonly signal: AbortSignal
  /** For servers: see `Signals.allow`. */
  readonly allowToEnd: (ms: number) => void
}

/** Where the next sync of a protocol continues, for whoever stopped this one. */
export const NEXT_FROM_STATE = 'The next sync continues from the last state that was stored.'

/**
 * Runs a command that owns stdout, and returns its exit code. An error of `run` goes to `report`, unless the command
 * was interrupted. All output is written before the process ends, with the signal that stopped it if there was one.
 * `whenUnwritten` is appended to the message for an output that cannot be written.
 */
export async function runProgram(
  { stdout, stderr }: Pick<Io, 'stdout' | 'stderr'>,
  run: (program: Program) => Promise<number>,
  report: (error: unknown, program: Program) => void,
  whenUnwritten = NEXT_FROM_STATE,
): Promise<number> {
  const stop = new AbortController()
  // More than one program may run in a process, as in tests.
  if (!stderr.listeners('error').includes(loseLines)) stderr.on('error', loseLines)
  const writer = createLineWriter(stdout, { onGone: () => stop.abort(new InterruptedError()) })
  const signals = onSignals((signal) => stop.abort(new InterruptedError(signal)))
  const program: Program = { writer, signal: stop.signal, allowToEnd: signals.allow }
  let exitCode = 0
  try {
    exitCode = await run(program)
  } catch (error) {
    exitCode = 1
    // A failure of the output is reported once, below.
    if (!(error instanceof InterruptedError) && !writer.gone) report(error, program)
  }
  await writer.flush().catch((error) => {
    // If the reader is gone, there is nobody to report it to; the exit code is enough.
    exitCode = 1
    if (!(error instanceof OutputClosedError)) stderr.write(`${unwritten(error, whenUnwritten)}\n`)
  })
  signals.finish()
  return exitCode
}

/**
 * A log whose reader is gone, or whose disk is full, loses lines. The work goes on: the exit code tells how it ended. Without
 * a listener, the process would end at once, in the middle of a commit.
 */
function loseLines(): void {}

function unwritten(error: NodeJS.ErrnoException, whenUnwritten: string): string {
  const reason = error.code === 'ENOSPC' ? 'no space is left on the disk' : error.message
  return withId(
    warningOf('output-not-written', `The output cannot be written: ${reason}. ${whenUnwritten}`),
  )
}
