import type { Changes } from '../position.ts'

export const AT = new Date('2026-11-20T03:00:00Z')

/** Before the changes of a delta with days, whose older days have been listed. */
export const CHANGES: Changes = {
  phase: 'changes',
  delta: { url: '/delta/clockings?deltaToken=1', at: AT },
  requested: false,
  maybeConsumed: false,
  window: '2025-01-01',
  historyAt: AT,
}
