import type { Writable } from 'node:stream'
import { InterruptedError } from './errors.ts'
import { createLineWriter, type LineWriter, OutputClosedError } from './line-writer.ts'
import { onSignals } from './signals.ts'

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
  return `The output cannot be written: ${reason}.`
}
