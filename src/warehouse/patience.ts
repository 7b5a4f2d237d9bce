import { setTimeout as sleep } from 'node:timers/promises'
import { ConnectorError } from '../ground/errors.ts'
import type { Tools } from '../protocol/connector.ts'
import type { Patience } from './landing.ts'

/** The time between two attempts to open a landing. */
const RETRY_MS = 1_000

/** Waits up to `ms` milliseconds in total for landings that another process has open. The first wait is logged. */
export function createPatience(
  ms: number,
  { log, signal }: Pick<Tools, 'log' | 'signal'>,
): Patience {
  const until = performance.now() + ms
  let isTold = false
  return async function patience(open) {
    for (;;) {
      try {
        return await open()
      } catch (error) {
        const isTaken = error instanceof ConnectorError && error.failure === 'transient'
        if (!isTaken || performance.now() >= until) throw error
        if (!isTold) log.info(`${error.message} Waiting for it.`)
        isTold = true
        // After an abort, the reason of the signal is thrown instead of the timer's own error.
        await sleep(RETRY_MS, undefined, { signal }).catch(() => signal.throwIfAborted())
      }
    }
  }
}
