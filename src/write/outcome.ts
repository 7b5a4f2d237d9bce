import { ClientError } from '../client/client-error.ts'
import { ConnectorError } from '../ground/errors.ts'
import { statusIs } from '../http/status.ts'
import type { ObjectName } from './objects.ts'

/**
 * What became of a record. `skipped`: the service has it already, or a later record of the same key
 * counts; `absent`: what is to be deleted is not there; `adopted`: an existing work location got the
 * reference; `rejected`: `reason` says why, and what was changed if anything was; `ambiguous`: several records
 * of the service may be the one that is meant, and nothing was changed; `unknown`: the service may have done it
 * and did not say so.
 */
type OutcomeKind = keyof typeof NONE

/** Every outcome, in the order in which they are counted for people. */
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

/** What became of a record, without what the record says itself. */
export interface Verdict {
  readonly outcome: OutcomeKind
  /** One sentence or more; always there when rejected, ambiguous or unknown. */
  readonly reason?: string
  /** The status with which the service refused the record. */
  readonly status?: number
  /** It took the place of another link: the value named another record, or the record had another value. */
  readonly relinked?: true
  /** The id that the value named before. */
  readonly takenFrom?: string
  /** A later record of the input has another id for its value, or another value for its id. */
  readonly replaced?: true
  /** An earlier record of the input, which was written, has another id for its value, or another value for its id. */
  readonly replaces?: true
  /**
   * The record and the service differ, in blanks at an end, in the form of characters (NFC) or, where the service
   * folds it, in case alone.
   */
  readonly folded?: true
  /** The records of the service that the reason tells of. */
  readonly ids?: readonly string[]
}

/** Whether the record still waits to be written: somebody has to mend it, or a later run to look for it. */
export function isRefusal({ outcome }: Pick<Verdict, 'outcome'>): boolean {
  return outcome === 'rejected' || outcome === 'ambiguous' || outcome === 'unknown'
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
type OutcomeCounts = Readonly<Record<OutcomeKind, number>>

/** What a run has done so far. */
export interface OutcomeSummary {
  readonly counts: OutcomeCounts
  /** How many of them are worth a look although nothing failed. */
  readonly remarkable: Readonly<Record<'relinked' | 'taken' | 'replaced' | 'folded', number>>
}

/**
 * Why a run, or one after a dry run, fails by its outcomes, in sentences: more records are rejected than
 * `max_rejected` allows, or it is not known what became of some. Undefined when it does not.
 */
export function failureInWords(
  {
    rejected,
    ambiguous = 0,
    unknown,
  }: Pick<OutcomeCounts, 'rejected' | 'unknown'> & Partial<OutcomeCounts>,
  maxRejected: number,
  isDryRun = false,
): string | undefined {
  const refused = rejected + ambiguous
  const reasons = [
    ...(refused > maxRejected ? [tooManyRejected(refused, maxRejected, isDryRun)] : []),
    ...(unknown > 0 ? [unknownOutcomes(unknown)] : []),
  ]
  return reasons.length === 0 ? undefined : reasons.join(' ')
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
 * Counts for people, such as `3 written, 1 rejected; 1 of them relinked`, or of a dry run `3 would be written`;
 * empty when there were no records.
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

/** What somebody should look at although it is no failure, one sentence each. */
export function warningsOf({ remarkable }: OutcomeSummary): readonly string[] {
  const { taken, replaced, folded } = remarkable
  const sentences = [
    taken === 1
      ? '1 value is taken from another record; takenFrom in its outcome is the id of that record.'
      : `${taken} values are taken from other records; takenFrom in their outcomes is the id of that record.`,
    `${counted(replaced, 'record')} of the input ${replaced === 1 ? 'does' : 'do'} not count: a later one has another internalReference for the value, or another value for the internalReference.`,
    `${counted(folded, 'record')} ${folded === 1 ? 'differs' : 'differ'} from what the service has in spaces at the ends, in the Unicode form of characters (NFC) or in a case that the service ignores, and ${folded === 1 ? 'counts' : 'count'} as equal.`,
  ]
  return sentences.filter((_, i) => ([taken, replaced, folded][i] ?? 0) > 0)
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
  const counts = { ...NONE }
  const remarkable = { relinked: 0, taken: 0, replaced: 0, folded: 0 }
  return {
    summary: { counts, remarkable },
    report(object, ordinal, key, verdict) {
      counts[verdict.outcome]++
      remarkable.relinked += Number(verdict.relinked === true)
      remarkable.taken += Number(verdict.takenFrom !== undefined)
      remarkable.replaced += Number(verdict.replaced === true || verdict.replaces === true)
      remarkable.folded += Number(verdict.folded === true)
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

/** Nothing of an object can be written, while others may be: the service refuses whatever is asked for. */
export class ObjectRefusal extends ConnectorError {
  override name = 'ObjectRefusal'
}

/** Whether an error means that nothing of this object can be written, while others may be. */
export function isOfObject(error: unknown): error is ConnectorError {
  if (error instanceof ObjectRefusal) return true
  if (!(error instanceof ClientError)) return false
  return error.isMissingScope || statusIs(error.status, 'of object')
}

function isOfRecord(error: ClientError): boolean {
  if (error.isMissingScope) return false
  if (error.status !== undefined) return statusIs(error.status, 'of record')
  // The client itself sends nothing that cannot be right; other errors without a status have a cause.
  return error.failure === 'config' && error.cause === undefined
}
