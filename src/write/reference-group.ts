import type { Verdict } from './outcome.ts'
import type { ReferenceChange } from './plan-references.ts'
import { type CachedLinks, changesOf, type LinkChanges } from './service-cache.ts'

/** A record of a group, and what has become of it so far. */
export interface GroupRecord extends ReferenceChange {
  /** Whether its put or deletion was requested at least once. */
  isAsked: boolean
  /** Whether its value was read because it turned out to be different from what was known. */
  isReread: boolean
  /** Whether the service or this program has refused it: it is left out of further plans. */
  isRefused: boolean
  verdict: Verdict | undefined
}

/** Changes of one name that depend on each other, and what is known about their links. */
export interface ReferenceGroup {
  /** The records by ordinal, in the order of the input. */
  readonly records: ReadonlyMap<number, GroupRecord>
  /**
   * The links before the changes. Links that are discovered are added only here, not to those of all groups:
   * another group may have changed them meanwhile.
   */
  readonly start: LinkChanges
  /** The links after the requests so far. */
  readonly current: LinkChanges
  /** The record for which each value lost its link. */
  readonly lostFor: Map<string, GroupRecord>
  /** Whether the service accepts the link of a value as it is, so that it can be restored; false: its record is gone. */
  readonly restorable: Map<string, boolean>
  /** Whether something was learned, or a record refused, since the last plan was made. */
  isPlanOutdated: boolean
  /** Whether a request was not answered with certainty: it may still have its effect. */
  isUncertain: boolean
}

/** Creates a group, without any request. */
export function createReferenceGroup(
  changes: readonly ReferenceChange[],
  links: CachedLinks,
): ReferenceGroup {
  const untouched = { isAsked: false, isReread: false, isRefused: false, verdict: undefined }
  const start = changesOf(links)
  return {
    records: new Map(changes.map((change) => [change.ordinal, { ...change, ...untouched }])),
    start,
    current: changesOf(start),
    lostFor: new Map(),
    restorable: new Map(),
    isPlanOutdated: true,
    isUncertain: false,
  }
}

/** The records that a plan has to consider. */
export function remainingOf({ records }: ReferenceGroup): GroupRecord[] {
  return [...records.values()].filter(({ isRefused }) => !isRefused)
}

/** Whether a change was made for the record: then later plans have nothing to add. */
export function isWritten({ verdict }: GroupRecord): boolean {
  return verdict?.outcome === 'written' || verdict?.outcome === 'deleted'
}

/** Notes the verdicts on records for which a plan has no request. */
export function noteSettled(
  { records }: ReferenceGroup,
  settled: ReadonlyMap<number, Verdict>,
): void {
  for (const [ordinal, verdict] of settled) {
    const record = records.get(ordinal)
    if (record === undefined) continue
    if (record.verdict === undefined || !isWritten(record)) record.verdict = verdict
    else if (verdict.replaced) record.verdict = { ...record.verdict, replaced: true }
  }
}

/** Refuses a record; the others are planned again. */
export function refuse(group: ReferenceGroup, record: GroupRecord, verdict: Verdict): void {
  record.isRefused = true
  record.verdict = verdict
  group.isPlanOutdated = true
}

/**
 * Notes who has a value at the service: the record with this id, or none. Returns whether that differs from
 * what was known, so that the plan was wrong.
 */
export function noteLink(group: ReferenceGroup, value: string, id: string | undefined): boolean {
  const { start, current, lostFor } = group
  // This run has freed the value. Otherwise it was linked when it was put, and somebody has removed the link since.
  if (id === undefined ? lostFor.has(value) : id === current.idOf(value)) return false
  for (const view of [start, current])
    if (id === undefined) view.unlink(value)
    else view.link(value, id)
  group.isPlanOutdated = true
  return true
}

/** Passes on to later groups and batches what this group has changed and learned. */
export function commit({ current, start }: ReferenceGroup): void {
  current.commit()
  start.commit()
}
