import type { ObjectName } from './objects.ts'
import type { Outcome, OutcomeCounts, Verdict } from './outcome.ts'

/** Tells outcomes and counts them. */
export interface Teller {
  tell(
    object: ObjectName,
    ordinal: number | undefined,
    key: Readonly<Record<string, string>>,
    verdict: Verdict,
  ): void
  readonly counts: OutcomeCounts
}

export interface TellerOptions {
  readonly onOutcome: (outcome: Outcome) => void
  readonly showValues?: boolean
  readonly isDryRun: boolean
}

export function createTeller({ onOutcome, showValues, isDryRun }: TellerOptions): Teller {
  const counts = {
    written: 0,
    skipped: 0,
    deleted: 0,
    absent: 0,
    created: 0,
    adopted: 0,
    rejected: 0,
  }
  return {
    counts,
    tell(object, ordinal, key, verdict) {
      counts[verdict.outcome]++
      const isShown = showValues === true || object !== 'external_references'
      const shown = isShown ? key : withoutValue(key)
      onOutcome({ object, ordinal, key: shown, ...verdict, ...(isDryRun && { dryRun: true }) })
    },
  }
}

/** References of people name them, and the client leaves their values out of all words. */
function withoutValue({ value: _, ...key }: Readonly<Record<string, string>>) {
  return key
}
