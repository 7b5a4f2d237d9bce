import type { Config } from '../config/config.ts'
import { isLongAgo } from '../ground/days.ts'
import type { Key } from '../rows/id-set.ts'
import { changesAfter, hasHistory } from './position.ts'
import type { UnkeyedState } from './stored-state.ts'

/** Why the rows of a delta are compared with lists: of all days, or of those before its window. */
export type ComparisonReason = 'audit' | 'history'

/** How many rows a comparison has written that no change had reported. */
export interface Compared {
  readonly reason: ComparisonReason
  readonly missing: number
  readonly newer: number
  /** The rows that its lists did not have. */
  readonly notListed: ReadonlySet<Key>
}

/** A comparison for which there was no list is tried again by the next nightly sync, also if that begins earlier. */
const HOURS_BETWEEN_ATTEMPTS = 20

/**
 * The comparison that is due after the changes have been followed. An audit is due if both the last one and the last
 * complete read were longer ago than the configuration allows, or if changes may have been lost; it includes the days before
 * the window. An audit that had no list counts; if changes may have been lost, it is tried again a day later. `now` is the
 * service's time.
 */
export function nextComparison(
  state: Pick<
    UnkeyedState,
    'mode' | 'position' | 'start' | 'auditedAt' | 'comparedAt' | 'generation' | 'mayLackChanges'
  >,
  { auditDays, historyRefreshDays }: Pick<Config, 'auditDays' | 'historyRefreshDays'>,
  now: Date,
): ComparisonReason | undefined {
  const { mode, position, start, auditedAt, comparedAt, generation, mayLackChanges } = state
  const changes = changesAfter(position)
  if (mode !== 'incremental' || changes === undefined) return undefined
  const times = [auditedAt ?? new Date(0), new Date(generation * 1000)]
  const isAuditDue =
    (mayLackChanges && !wasTried(comparedAt, now)) ||
    times.every((time) => isLongAgo(time, auditDays, now))
  if (auditDays > 0 && isAuditDue) return 'audit'
  const { window, historyAt } = changes
  if (!hasHistory(start, window) || wasTried(comparedAt, now)) return undefined
  if (historyAt === null) return 'history'
  const isDue = historyRefreshDays > 0 && isLongAgo(historyAt, historyRefreshDays, now)
  return isDue ? 'history' : undefined
}

/**
 * Whether a complete read that has just ended may have missed rows, or an earlier one, whose list has failed. The list of
 * each sync is compared with the rows of the previous one. Any other read is compared with none; if it found no row, the
 * list that confirms this costs little. `now` is the service's time.
 */
export function isListDue(
  {
    mode,
    position,
    isListDue,
    isSettled,
    rowsSoFar,
    comparedAt,
  }: Pick<
    UnkeyedState,
    'mode' | 'position' | 'isListDue' | 'isSettled' | 'rowsSoFar' | 'comparedAt'
  >,
  now: Date,
): boolean {
  if (isSettled) return isListDue && !wasTried(comparedAt, now)
  const isCompared = mode === 'incremental' && changesAfter(position) === undefined
  return isListDue || (!isCompared && rowsSoFar === 0)
}

function wasTried(comparedAt: Date | null, now: Date): boolean {
  return comparedAt !== null && !isLongAgo(comparedAt, HOURS_BETWEEN_ATTEMPTS / 24, now)
}
