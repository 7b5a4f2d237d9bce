import type { Failure } from './failure.ts'

/** Everything was read and loaded. */
const SUCCEEDED = 0
/** Something failed that another attempt may mend. */
const FAILED = 1
/** Only a person can mend it: whoever schedules this does not try again. */
export const MISCONFIGURED = 2

/** The exit code by which a scheduler decides whether to try again. */
export function exitCodeOf(failures: readonly Failure[]): number {
  if (failures.length === 0) return SUCCEEDED
  return failures.every(({ type }) => type === 'config') ? MISCONFIGURED : FAILED
}
