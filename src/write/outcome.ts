import { ClientError } from '../client/client-error.ts'
import { ConnectorError } from '../ground/errors.ts'
import { type IdentifiedMessage, warningOf } from '../ground/message-ids.ts'
import { statusIs } from '../http/status.ts'
import type { ObjectName } from './objects.ts'

/**
 * The outcome of a record. `skipped`: the service has the same already, or a later record has the same key;
 * `absent`: what should be deleted does not exist; `adopted`: an existing work location got the reference;
 * `rejected`: `reason` says why, and what was changed, if anything; `ambiguous`: several records of the
 * service match, and nothing was changed; `unknown`: the service may have done it but did not say so.
 */
type OutcomeKind = keyof typeof NONE

/** Every outcome, in the order of the summary. */
const NONE = {
  written: 0,
  skipped: 0,
  deleted: 0,
  absent: 0,
  created: 0,
  adopted: 0,
  rejected: 0,
  ambiguous: 0,
  unknown: 0,
}

/** The outcome of a record, without the record's own data. */
export interface Verdict {
  readonly outcome: OutcomeKind
  /** One or more sentences; always present for rejected, ambiguous and unknown. */
  readonly reason?: string
  /** The status with which the service refused the record. */
  readonly status?: number
  /**
   * It replaced another link: the value belonged to another record, or the record had another value.
   */
  readonly relinked?: true
  /** The id to which the value was linked before. */
  readonly takenFrom?: string
  /** A later record of the input has another id for its value, or another value for its id. */
  readonly replaced?: true
  /** An earlier record of the input, which was written, has another id for its value, or another value for its id. */
  readonly replaces?: true
  /** The records of the service that the reason mentions. */
  readonly ids?: readonly string[]
}

/**
 * Whether the record is not yet written: somebody has to correct it, or a later run has to look for it.
 */
export function isRefusal({ outcome }: Pick<Verdict, 'outcome'>): boolean {
  return outcome === 'rejected' || outcome === 'ambiguous' || outcome === 'unknown'
}

/**
 * The final outcome of one record, or of one deletion of the mirror. `reason` contains no value of an
 * external reference unless values are shown.
 */
export interface Outcome extends Verdict {
  /** The ordinal of the record; undefined for a deletion of the mirror, which has no record. */
  readonly ordinal: number | undefined
  readonly object: ObjectName
  /**
   * The key of the record, as far as it could be read; for an external reference without its value unless
   * values are shown.
   */
  readonly key: Readonly<Record<string, string>>
  /** Nothing was changed: this is what would happen to the record. */
  readonly dryRun?: true
}

/** The number of records by outcome. */
type OutcomeCounts = Readonly<Record<OutcomeKind, number>>

/** The counts of a run so far. */
export interface OutcomeSummary {
  readonly counts: OutcomeCounts
  /** How many of them should be checked although nothing failed. */
  readonly remarkable: Readonly<Record<'relinked' | 'taken' | 'replaced', number>>
}

/**
 * Why a run, or the run after a dry run, fails because of its outcomes: more records are rejected than
 * `max_rejected` allows, or the outcome of some is unknown, so that a later run has to look for them. Undefined if it
 * does not fail.
 */
export function failureOf(
  {
    rejected,
    ambiguous = 0,
    unknown,
  }: Pick<OutcomeCounts, 'rejected' | 'unknown'> & Partial<OutcomeCounts>,
  maxRejected: number,
  isDryRun = false,
): ConnectorError | undefined {
  const refused = rejected + ambiguous
  const lost = unknown > 0 ? [unknownOutcomes(unknown)] : []
  if (refused > maxRejected) {
    const reasons = [tooManyRejected(refused, maxRejected, isDryRun), ...lost]
    return new ConnectorError('config', 'records-failed', reasons.join(' '))
  }
  const [reason] = lost
  return reason === undefined
    ? undefined
    : new ConnectorError('transient', 'outcome-unknown', reason)
}

function tooManyRejected(rejected: number, maxRejected: number, isDryRun: boolean): string {
  const records = counted(rejected, 'record')
  if (isDryRun)
    return `${records} would be rejected, and max_rejected allows ${maxRejected}. Correct these records first.`
  return `${records} ${rejected === 1 ? 'was' : 'were'} rejected, and max_rejected allows ${maxRejected}. All others are written. Correct the rejected records and write them again.`
}

function unknownOutcomes(unknown: number): string {
  return `It is not known whether the service has written ${counted(unknown, 'record')}. Write ${unknown === 1 ? 'it' : 'them'} again later: what was written is found then, and not written twice.`
}

/**
 * The counts as text, such as `3 written, 1 rejected; 1 of them relinked`, or for a dry run `3 would be
 * written`; empty if there were no records.
 */
export function countsInWords(
  { counts, remarkable: { relinked, replaced } }: OutcomeSummary,
  isDryRun = false,
): string {
  const verb = isDryRun ? 'would be ' : ''
  const parts = Object.entries(counts).filter(([, count]) => count > 0)
  const words = parts.map(([outcome, count]) => `${count} ${verb}${outcome}`).join(', ')
  const more = [
    ...(relinked > 0 ? [`${relinked} relinked`] : []),
    ...(replaced > 0 ? [`${replaced} replaced within the input`] : []),
  ]
  return more.length === 0 ? words : `${words}; of these ${more.join(', ')}`
}

/** Warnings about outcomes that are not failures. */
export function warningsOf({ remarkable }: OutcomeSummary): readonly IdentifiedMessage[] {
  const { taken, replaced } = remarkable
  const warnings = [
    warningOf(
      'values-taken',
      taken === 1
        ? '1 value is taken from another record; takenFrom in its outcome is the id of that record.'
        : `${taken} values are taken from other records; takenFrom in their outcomes is the id of that record.`,
    ),
    warningOf(
      'records-replaced',
      `${counted(replaced, 'record')} of the input ${replaced === 1 ? 'does' : 'do'} not count: a later one has another internalReference for the value, or another value for the internalReference.`,
    ),
  ]
  return warnings.filter((_, i) => ([taken, replaced][i] ?? 0) > 0)
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

/** Reports outcomes and counts them. */
export interface OutcomeReporter {
  report(
    object: ObjectName,
    ordinal: number | undefined,
    key: Readonly<Record<string, string>>,
    verdict: Verdict,
  ): void
  readonly summary: OutcomeSummary
}

export interface OutcomeReporterOptions {
  /** Called for each outcome. */
  readonly onOutcome: (outcome: Outcome) => void
  readonly showValues?: boolean
  readonly isDryRun: boolean
}

/** Creates a reporter; without `showValues` it leaves out the values of external references. */
export function createOutcomeReporter({
  onOutcome,
  showValues,
  isDryRun,
}: OutcomeReporterOptions): OutcomeReporter {
  const counts = { ...NONE }
  const remarkable = { relinked: 0, taken: 0, replaced: 0 }
  return {
    summary: { counts, remarkable },
    report(object, ordinal, key, verdict) {
      counts[verdict.outcome]++
      remarkable.relinked += Number(verdict.relinked === true)
      remarkable.taken += Number(verdict.takenFrom !== undefined)
      remarkable.replaced += Number(verdict.replaced === true || verdict.replaces === true)
      const isShown = showValues === true || object !== 'external_references'
      const shown = isShown ? key : withoutValue(key)
      onOutcome({ object, ordinal, key: shown, ...verdict, ...(isDryRun && { dryRun: true }) })
    },
  }
}

/** The value of a reference may identify a person. */
function withoutValue({ value: _, ...key }: Readonly<Record<string, string>>) {
  return key
}

/**
 * The verdict on a record that the service, or the client before it, refused; unknown if an attempt before the refused
 * one may have had its effect. Rethrows other errors.
 */
export function refusalOf(error: unknown): Verdict {
  if (!(error instanceof ClientError) || !isOfRecord(error)) throw error
  const { status, reasons, message, mayHaveHappened } = error
  const why = reasons.length > 0 ? reasons.join('; ') : message
  const verdict: Verdict = mayHaveHappened
    ? { outcome: 'unknown', reason: `${why} ${UNANSWERED}` }
    : { outcome: 'rejected', reason: why }
  return { ...verdict, ...(status !== undefined && { status }) }
}

const UNANSWERED = 'The service did not respond to an earlier attempt, which may have succeeded.'

/** An object cannot be written, while others may be: the service refuses every request for it. */
export class ObjectRefusal extends ConnectorError {
  override name = 'ObjectRefusal'
}

/** Whether an error means that this object cannot be written, while others may be. */
export function isOfObject(error: unknown): error is ConnectorError {
  if (error instanceof ObjectRefusal) return true
  if (!(error instanceof ClientError)) return false
  return error.isMissingScope || statusIs(error.status, 'of object')
}

function isOfRecord(error: ClientError): boolean {
  if (error.isMissingScope) return false
  if (error.status !== undefined) return statusIs(error.status, 'of record')
  // The client itself refuses invalid requests; other errors without a status have a cause.
  return error.failure === 'config' && error.cause === undefined
}
