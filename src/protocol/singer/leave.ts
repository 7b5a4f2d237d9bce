import { Stopped } from '../../errors.ts'

/** How long queued lines may take to leave once a signal has come. */
const PATIENCE_MS = 2000

/**
 * Ends the process by the signal that stopped it, even if its lines cannot leave: `meltano config
 * test` stops reading at the first record, sends SIGTERM, and waits for our end. No state is lost by
 * that, because only a STATE that was read counts.
 */
export function leaveAfterSignal(stop: AbortSignal): void {
  stop.addEventListener('abort', () => {
    const { reason } = stop
    if (!(reason instanceof Stopped) || reason.message === '') return
    setTimeout(() => {
      process.removeAllListeners(reason.message)
      process.kill(process.pid, reason.message)
    }, PATIENCE_MS).unref()
  })
}
