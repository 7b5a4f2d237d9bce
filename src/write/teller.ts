import type { ObjectName } from './objects.ts'
import type { Outcome, OutcomeCounts, Verdict } from './outcome.ts'
import { redact } from './redact.ts'

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
      const told = isShown ? { key, ...verdict } : hidden(key, verdict)
      onOutcome({ object, ordinal, ...told, ...(isDryRun && { dryRun: true }) })
    },
  }
}

/** References of people name them: the value is in neither the key nor the service's words. */
function hidden(key: Readonly<Record<string, string>>, verdict: Verdict) {
  const { value, ...rest } = key
  if (value === undefined || verdict.reason === undefined) return { key: rest, ...verdict }
  return { key: rest, ...verdict, reason: redact(verdict.reason, [value]) }
}
