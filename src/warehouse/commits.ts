import type { ConnectorError } from '../protocol/errors.ts'
import { unwritable } from './unwritable.ts'

/** So many bytes of rows are committed together at most, a page or a part of one more. */
const COMMIT_BYTES = 16 * 1024 * 1024
/** A kill costs no more than what was read in this time. */
const COMMIT_MS = 5_000

/** When the rows that wait are committed: one commit at a time, while the next rows come. */
export interface Commits {
  /** Rows of so many bytes wait. A promise when there is no room for more before a commit has ended. */
  wrote(bytes: number): Promise<void> | undefined
  /** Ends when everything that waits now is committed. */
  now(): Promise<void>
  /** Why the last commit failed; nothing is committed after it. */
  readonly failure: ConnectorError | undefined
  /** No commit begins any more; ends with the one that runs. */
  stop(): Promise<void>
}

/** `commit` takes everything that waits, at once, and brings it into the warehouse. */
export function createCommits(commit: () => Promise<void>): Commits {
  let running: Promise<void> | undefined
  /** A commit that begins when the present one has ended. */
  let next: Promise<void> | undefined
  let waiting = 0
  let failure: ConnectorError | undefined
  // What waits is committed also while the service says nothing.
  const timer = setInterval(() => void now().catch(() => {}), COMMIT_MS)
  return {
    get failure() {
      return failure
    },
    now,
    wrote(bytes) {
      if (failure !== undefined) return Promise.reject(failure)
      waiting += bytes
      if (waiting < COMMIT_BYTES) return undefined
      if (running !== undefined) return running
      void now().catch(() => {})
      return undefined
    },
    async stop() {
      clearInterval(timer)
      await running?.catch(() => {})
    },
  }

  function now(): Promise<void> {
    if (failure !== undefined) return Promise.reject(failure)
    if (running === undefined) return begin()
    next ??= running.then(begin)
    return next
  }

  function begin(): Promise<void> {
    next = undefined
    waiting = 0
    running = commit().then(
      () => {
        running = undefined
      },
      (error) => {
        failure = unwritable(error)
        throw failure
      },
    )
    return running
  }
}
