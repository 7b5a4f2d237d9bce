import type { ObjectName } from './objects.ts'
import type { Outcome, OutcomeCounts, Verdict } from './outcome.ts'

/** Reports outcomes and counts them. */
export interface OutcomeReporter {
  report(
    object: ObjectName,
    ordinal: number | undefined,
    key: Readonly<Record<string, string>>,
    verdict: Verdict,
  ): void
  readonly counts: OutcomeCounts
}

export interface OutcomeReporterOptions {
  /** Told of each outcome. */
  readonly onOutcome: (outcome: Outcome) => void
  readonly showValues?: boolean
  readonly isDryRun: boolean
}

/** Makes a reporter; without `showValues` it leaves out the values of external references. */
export function createOutcomeReporter({
  onOutcome,
  showValues,
  isDryRun,
}: OutcomeReporterOptions): OutcomeReporter {
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
    report(object, ordinal, key, verdict) {
      counts[verdict.outcome]++
      const isShown = showValues === true || object !== 'external_references'
      const shown = isShown ? key : withoutValue(key)
      onOutcome({ object, ordinal, key: shown, ...verdict, ...(isDryRun && { dryRun: true }) })
    },
  }
}

/** The value of a reference may name a person. */
function withoutValue({ value: _, ...key }: Readonly<Record<string, string>>) {
  return key
}
