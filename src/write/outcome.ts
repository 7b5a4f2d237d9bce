import { ClientError } from '../client/client-error.ts'
import { statusIs } from '../http/status.ts'
import type { ObjectName } from './objects.ts'

/**
 * What became of a record. `skipped`: the service has it already, or a later record of the same key
 * counts; `absent`: what is to be deleted is not there; `adopted`: an existing work location got the
 * reference; `rejected`: nothing was changed, `reason` says why.
 */
type OutcomeKind = 'written' | 'skipped' | 'deleted' | 'absent' | 'created' | 'adopted' | 'rejected'

/** What became of a record, without what the record says itself. */
export interface Verdict {
  readonly outcome: OutcomeKind
  /** One sentence or more; always there when rejected. */
  readonly reason?: string
  /** The status with which the service refused the record. */
  readonly status?: number
  /** It took the place of another link: the value named another record, or the record had another value. */
  readonly relinked?: true
}

/**
 * The final outcome of one record, or of one deletion of the mirror. `reason` holds no value of an
 * external reference unless values are shown.
 */
export interface Outcome extends Verdict {
  /** That of the record; undefined for a deletion of the mirror, which no record asked for. */
  readonly ordinal: number | undefined
  readonly object: ObjectName
  /**
   * What the record is found by, as far as it could be read; that of an external reference is without
   * its value unless values are shown.
   */
  readonly key: Readonly<Record<string, string>>
  /** Nothing was changed: this is what would have become of the record. */
  readonly dryRun?: true
}

/** How many records had which outcome. */
export type OutcomeCounts = Readonly<Record<OutcomeKind, number>>

/** Says that a run, or one after a dry run, fails because more records are rejected than `max_rejected` allows. */
export function tooManyRejected(rejected: number, maxRejected: number, isDryRun = false): string {
  const records = rejected === 1 ? '1 record' : `${rejected} records`
  if (isDryRun)
    return `${records} would be rejected, and max_rejected allows ${maxRejected}. Mend what would be rejected first.`
  const subject = `${records} ${rejected === 1 ? 'was' : 'were'}`
  return `${subject} rejected, and max_rejected allows ${maxRejected}. All others are written. Mend what was rejected and write it again.`
}

/**
 * Counts for people, such as `3 written, 1 rejected`, or of a dry run `3 would be written`; empty when there
 * were no records.
 */
export function countsInWords(counts: OutcomeCounts, isDryRun = false): string {
  const verb = isDryRun ? 'would be ' : ''
  const parts = Object.entries(counts).filter(([, count]) => count > 0)
  return parts.map(([outcome, count]) => `${count} ${verb}${outcome}`).join(', ')
}

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

/** The verdict on a record that the service, or the client before it, refused; rethrows other errors. */
export function refusalOf(error: unknown): Verdict {
  if (!(error instanceof ClientError) || !isOfRecord(error)) throw error
  const { status, reasons, message } = error
  const reason = reasons.length > 0 ? reasons.join('; ') : message
  return { outcome: 'rejected', reason, ...(status !== undefined && { status }) }
}

/** Whether an error means that nothing of this object can be written, while others may be. */
export function isOfObject(error: unknown): error is ClientError {
  if (!(error instanceof ClientError)) return false
  return error.isMissingScope || statusIs(error.status, 'of object')
}

function isOfRecord(error: ClientError): boolean {
  if (error.isMissingScope) return false
  if (error.status !== undefined) return statusIs(error.status, 'of record')
  // The client itself sends nothing that cannot be right; other errors without a status have a cause.
  return error.failure === 'config' && error.cause === undefined
}
