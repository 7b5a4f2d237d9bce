import { constants } from 'node:os'
import type { Writable } from 'node:stream'
import { InterruptedError } from '../ground/errors.ts'
import { warningOf } from '../ground/message-ids.ts'
import { createLineWriter, type LineWriter, OutputClosedError } from './line-writer.ts'

/** How long queued lines may take to leave once a signal has come. */
const MAX_FLUSH_MS = 1500
const SIGNALS = ['SIGTERM', 'SIGINT'] as const
type Signal = (typeof SIGNALS)[number]

/** What a signal does to a command that has asked for it. */
export interface Signals {
  /** Ends the process by the signal that came, if one did. */
  finish(): void
  /**
   * From now on a signal lets the command end by itself, with an exit code of its own, in so many
   * milliseconds; only one that takes longer ends by the signal.
   */
  allow(ms: number): void
}

/** The part of `process` that signals need. */
export type SignalledProcess = Pick<NodeJS.Process, 'on' | 'off' | 'kill' | 'exit' | 'pid'>

/**
 * Calls `stop` at the first SIGTERM or SIGINT. The process ends by that signal, as shells and PyAirbyte
 * expect: by `finish`, which is called when the last lines are out; after 1.5 seconds also when they
 * cannot leave, because `meltano config test` stops reading and waits for the end; at once at a second
 * signal. No state is lost by that: only a STATE that was read counts.
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
    // The kernel keeps signals without a handler from the first process of a container.
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

/** What is given, and for the rest that of the process. */
export function processOr({
  stdout = process.stdout,
  stderr = process.stderr,
  env = process.env,
}: Partial<Io>): Io {
  return { stdout, stderr, env }
}

/** What a command of either protocol runs with. */
export interface Program {
  readonly writer: LineWriter
  /** Aborted with `InterruptedError` on SIGTERM, SIGINT, or when the reader of stdout is gone. */
  readonly signal: AbortSignal
  /** For a server: see `Signals.allow`. */
  readonly allowToEnd: (ms: number) => void
}

/** What a sync over a protocol goes on from, for whoever stopped it. */
export const NEXT_FROM_STATE = 'The next sync continues from the last state that was stored.'

/**
 * Runs a command that owns stdout and answers with its exit code. An error that `run` throws goes to
 * `report`, unless it is only the end that somebody asked for; everything that was said is written
 * out before the process ends, by the signal that stopped it if there was one. `whenUnwritten` is what a
 * reader of an output that cannot be written has to know.
 */
export async function runProgram(
  { stdout, stderr }: Pick<Io, 'stdout' | 'stderr'>,
  run: (program: Program) => Promise<number>,
  report: (error: unknown, program: Program) => void,
  whenUnwritten = NEXT_FROM_STATE,
): Promise<number> {
  const stop = new AbortController()
  const writer = createLineWriter(stdout, { onGone: () => stop.abort(new InterruptedError()) })
  const signals = onSignals((signal) => stop.abort(new InterruptedError(signal)))
  const program: Program = { writer, signal: stop.signal, allowToEnd: signals.allow }
  let exitCode = 0
  try {
    exitCode = await run(program)
  } catch (error) {
    exitCode = 1
    // An output that has failed is told once, below.
    if (!(error instanceof InterruptedError) && !writer.gone) report(error, program)
  }
  await writer.flush().catch((error) => {
    // A reader that has left wants to hear nothing; the exit code tells its shell.
    exitCode = 1
    if (!(error instanceof OutputClosedError))
      stderr.write(`${unwritten(error)} ${whenUnwritten}\n`)
  })
  signals.finish()
  return exitCode
}

function unwritten(error: NodeJS.ErrnoException): string {
  const reason = error.code === 'ENOSPC' ? 'no space is left on the disk' : error.message
  return warningOf('output-not-written', `The output cannot be written: ${reason}.`)
}
