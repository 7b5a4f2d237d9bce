import { constants } from 'node:os'

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
