import type { Writable } from 'node:stream'
import { setFlagsFromString } from 'node:v8'
import { InterruptedError } from '../errors.ts'
import { createLineWriter, type LineWriter, OutputClosedError } from './line-writer.ts'
import { onSignals } from './signals.ts'

/** What a command of either protocol runs with. */
export interface Program {
  readonly writer: LineWriter
  /** Aborted with `Stopped` on SIGTERM, SIGINT, or when the reader of stdout is gone. */
  readonly signal: AbortSignal
}

/**
 * Runs a command that owns stdout and answers with its exit code. An error that `run` throws goes to
 * `report`, unless it is only the end that somebody asked for; everything that was said is written
 * out before the process ends, by the signal that stopped it if there was one.
 */
export async function runProgram(
  stdout: Writable,
  run: (program: Program) => Promise<number>,
  report: (error: unknown, program: Program) => void,
): Promise<number> {
  // Records are bytes outside of the heap: a young generation that grows costs 14 MB and saves no time.
  setFlagsFromString('--semi-space-growth-factor=1')
  const stop = new AbortController()
  const writer = createLineWriter(stdout, { onGone: () => stop.abort(new InterruptedError()) })
  const program: Program = { writer, signal: stop.signal }
  const signals = onSignals((signal) => stop.abort(new InterruptedError(signal)))
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
    if (!(error instanceof OutputClosedError)) process.stderr.write(`${unwritten(error)}\n`)
  })
  signals.finish()
  return exitCode
}

function unwritten(error: NodeJS.ErrnoException): string {
  const reason = error.code === 'ENOSPC' ? 'no space is left on the disk' : error.message
  return `The output cannot be written: ${reason}. The next sync goes on from the last state that was stored.`
}
