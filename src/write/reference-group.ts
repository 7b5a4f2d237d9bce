import { foldedMost } from '../ground/text.ts'
import type { Verdict } from './outcome.ts'
import type { ReferenceChange } from './plan-references.ts'
import {
  type CachedLinks,
  type Claim,
  changesOf,
  differInForm,
  type LinkChanges,
} from './service-cache.ts'

/** A record of a group, and what has become of it so far. */
export interface GroupRecord extends ReferenceChange {
  value: string
  /** Whether the value is in the form of the service, which differs from the record's in case or spaces. */
  isRespelled: boolean
  /** Whether its put was requested at least once. */
  isAsked: boolean
  /** Whether its value was read because it turned out to be different from what was known. */
  isReread: boolean
  /** Whether the service or this program has refused it: it is left out of further plans. */
  isRefused: boolean
  verdict: Verdict | undefined
}

/** Changes of one name that depend on each other, and what is known about their links. */
export interface ReferenceGroup {
  readonly links: CachedLinks
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
  /** Values that were read because another one of the input differs only in case or spaces. */
  readonly askedInForm: Set<string>
  /** See `CachedLinks.claims`; those of this group. */
  claims: ReadonlyMap<string, readonly Claim[]>
  /** Whether something was learned, or a record refused, since the last plan was made. */
  isPlanOutdated: boolean
}

/** Creates a group, without any request. Records that contradict earlier ones are refused. */
export function createReferenceGroup(
  changes: readonly ReferenceChange[],
  links: CachedLinks,
): ReferenceGroup {
  const untouched = {
    isRespelled: false,
    isAsked: false,
    isReread: false,
    isRefused: false,
    verdict: undefined,
  }
  const start = changesOf(links)
  const group: ReferenceGroup = {
    links,
    records: new Map(changes.map((change) => [change.ordinal, { ...change, ...untouched }])),
    start,
    current: changesOf(start),
    lostFor: new Map(),
    askedInForm: new Set(),
    claims: new Map(),
    isPlanOutdated: true,
  }
  if (links.foldsMore) respell(group, links.spelled)
  else refuseContradictions(group)
  return group
}

/** The records that a plan has to consider. */
export function remainingOf({ records }: ReferenceGroup): GroupRecord[] {
  return [...records.values()].filter(({ isRefused }) => !isRefused)
}

/** The final verdict of a record; undefined if it has none. */
export function verdictOf({ verdict, isRespelled }: GroupRecord): Verdict | undefined {
  return verdict !== undefined && isRespelled ? { ...verdict, folded: true } : verdict
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

/** Notes that the link which a refused record replaced could not be restored. */
export function giveUp(group: ReferenceGroup, value: string): void {
  group.start.unlink(value)
  group.current.unlink(value)
  group.isPlanOutdated = true
  const record = group.lostFor.get(value)
  if (record?.verdict?.outcome !== 'rejected') return
  const reason = `${record.verdict.reason ?? ''} The link that it replaced was deleted and could not be restored.`
  record.verdict = { ...record.verdict, reason }
}

/**
 * Notes who has a value at the service: the record with this id, or none. Returns whether that differs from
 * what was known, so that the plan was wrong.
 */
export function noteLink(group: ReferenceGroup, value: string, id: string | undefined): boolean {
  return id === undefined ? noteUnlinked(group, value) : noteLinked(group, value, id)
}

function noteUnlinked(group: ReferenceGroup, value: string): boolean {
  // This run has freed the value. Otherwise it was linked when it was put, and somebody has removed the
  // link since.
  if (group.lostFor.has(value)) return false
  for (const view of [group.start, group.current]) view.unlink(value)
  group.isPlanOutdated = true
  return true
}

function noteLinked(group: ReferenceGroup, value: string, id: string): boolean {
  const { start, current } = group
  if (id === current.idOf(value)) return false
  const known = current.valueOfId(id)
  const isInOtherForm = known !== undefined && differInForm(known, value)
  if (isInOtherForm) treatAsEqual(group, value, known)
  // A link that this run has made was not there before.
  const isOurs = isInOtherForm && start.valueOfId(id) !== known
  for (const view of isOurs ? [current] : [start, current]) view.link(value, id)
  group.isPlanOutdated = true
  return true
}

/**
 * Notes that the service treats two values as equal; so it does for all that differ in the same way.
 */
export function treatAsEqual(group: ReferenceGroup, value: string, other: string): void {
  const { links } = group
  links.treatAsEqual(value, other)
  const folded = links.fold(value)
  respell(group, (one) => (links.fold(one) === folded ? value : one))
  group.isPlanOutdated = true
}

function respell(group: ReferenceGroup, spelled: (value: string) => string): void {
  for (const record of group.records.values()) {
    const value = spelled(record.value)
    if (value !== record.value) record.isRespelled = true
    record.value = value
  }
  refuseContradictions(group)
}

function refuseContradictions(group: ReferenceGroup): void {
  const { claims, contradicting } = claimsOf([...group.records.values()], group.links)
  group.claims = claims
  for (const record of contradicting) refuse(group, record, CONTRADICTION)
}

const CONTRADICTION: Verdict = {
  outcome: 'rejected',
  reason:
    'An earlier record of the input has this value in another form, which is the same for the service, but another internalReference. Leave out the one that is wrong.',
}

/**
 * The last claim to each value, and the records that contradict an earlier claim: two records with different
 * ids, and with texts that the service treats as one value, would take the value from each other in every
 * run. The earlier one keeps it, also if it was in another batch.
 */
function claimsOf<T extends ReferenceChange>(changes: readonly T[], links: CachedLinks) {
  const claims = new Map<string, readonly Claim[]>()
  const contradicting: T[] = []
  for (const change of changes) {
    const { text, id } = change
    const key = foldedMost(text)
    const known = claims.get(key) ?? links.claims.get(key) ?? []
    const earlier = known.find((one) => links.fold(one.text) === links.fold(text))
    const isOfOther = earlier?.id !== undefined && earlier.text !== text
    if (isOfOther && id !== undefined && earlier.id !== id) contradicting.push(change)
    else claims.set(key, [...known.filter((one) => one !== earlier), { text, id }])
  }
  return { claims, contradicting }
}

/** Passes on to later groups and batches what this group has changed and learned. */
export function commit({ current, start, claims, links }: ReferenceGroup): void {
  current.commit()
  start.commit()
  for (const [key, claim] of claims) links.claims.set(key, claim)
}
