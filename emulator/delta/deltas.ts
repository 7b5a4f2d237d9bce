import { randomUUID } from 'node:crypto'
import type { Clock } from '../clock.ts'
import type { Filter } from '../filter/check.ts'
import { ServiceError } from '../http/messages.ts'
import type { ResolvedOptions } from '../options.ts'
import type { ReferencePair } from '../references/references.ts'
import type { Change, StoredRecord } from '../store/store.ts'

/** One client's delta of one collection: first all records, then the changes. */
export interface Delta {
  readonly id: string
  readonly client: string
  readonly collection: string
  readonly filter: Filter
  readonly pairs: readonly ReferencePair[]
  /** The parameters of the start that its next links repeat, by name. */
  readonly parameters: ReadonlyMap<string, string>
  /** The latest change of the tenant when the delta was started: the second phase begins after it. */
  readonly startedAt: number
}

/** The parameters of a new delta. */
type DeltaQuery = Omit<Delta, 'id'>

/** What a delta token reads next: more of the first phase, or the changes since. */
type Phase = 'load' | 'changes'

/** A request with a delta token. */
interface DeltaTokenQuery {
  readonly client: string
  readonly collection: string
  readonly token: string
  readonly phase: Phase
}

/**
 * The position of a delta token: after the change `cursor`, and between two pages of changes after the change
 * `after`.
 */
export interface DeltaPosition {
  readonly cursor: number
  readonly after: number
  /** The consumer may have received records that were created up to this change. */
  readonly told: number
}

/** The deltas of all clients, with their lifetimes. */
export interface Deltas {
  /**
   * Starts a delta. Another active one of the same client and collection ends, or makes this a 409
   * (`secondStart`).
   */
  start(query: DeltaQuery): Delta
  /** The token for a position in a phase of a delta. */
  token(delta: Delta, phase: Phase, position: DeltaPosition): string
  /**
   * The delta of a token, which counts as a use. Throws 400 if the text is not a token of this phase, 410 if
   * the delta has ended or belongs to another client.
   */
  resume(query: DeltaTokenQuery): { readonly delta: Delta; readonly position: DeltaPosition }
  /**
   * Counts the use of a delta link with this position. Returns from where it responds; 409 or 410 for the second use if
   * `usedDeltaLink` says so. `now` is the number of the latest change.
   */
  use(token: string, position: DeltaPosition, now: number): DeltaPosition
  /** Ends all deltas, or those of one collection. */
  expire(collection?: string): void
}

interface Lifetime {
  readonly delta: Delta
  lastUse: number
  lastGiven: number
  ended: boolean
}

interface TokenText {
  readonly Id: string
  readonly Phase: Phase
  readonly Cursor: number
  readonly After: number
  readonly Told: number
  /** Distinguishes tokens of the same position and time. */
  readonly Serial: number
  readonly Utc: string
}

const lifetimeInMs = 72 * 3_600_000

/** Creates an empty list of deltas. */
export function createDeltas(options: ResolvedOptions, clock: Clock): Deltas {
  const lifetimes = new Map<string, Lifetime>()
  /** The latest change when a token was last used. */
  const usedAt = new Map<string, number>()
  let given = 0
  const time = () => clock.now().getTime()
  const young = (since: number) => time() - since <= lifetimeInMs
  const alive = ({ ended, lastGiven, lastUse }: Lifetime) =>
    !ended && young(options.expiry === 'age' ? lastGiven : lastUse)

  return {
    start(query) {
      for (const lifetime of lifetimes.values()) {
        const { client, collection } = lifetime.delta
        if (client !== query.client || collection !== query.collection || !alive(lifetime)) continue
        if (options.secondStart === 'conflict') {
          throw new ServiceError(409, `Another delta of ${collection} is active`)
        }
        lifetime.ended = true
      }
      const delta = { ...query, id: randomUUID() }
      lifetimes.set(delta.id, { delta, lastUse: time(), lastGiven: time(), ended: false })
      return delta
    },
    token(delta, phase, { cursor, after, told }) {
      const lifetime = lifetimes.get(delta.id)
      if (lifetime) lifetime.lastGiven = time()
      const text: TokenText = {
        Id: delta.id,
        Phase: phase,
        Cursor: cursor,
        After: after,
        Told: told,
        Serial: ++given,
        Utc: clock.now().toISOString(),
      }
      return Buffer.from(JSON.stringify({ '~~~': '???', ...text })).toString('base64')
    },
    resume({ client, collection, token, phase }) {
      const text = parse(token, phase)
      const lifetime = lifetimes.get(text.Id)
      const isOwn = lifetime?.delta.collection === collection && lifetime.delta.client === client
      const aged = options.expiry === 'age' && !young(Date.parse(text.Utc))
      if (!isOwn || aged || !alive(lifetime)) {
        throw new ServiceError(410, 'The delta has expired: start again')
      }
      lifetime.lastUse = time()
      const position = { cursor: text.Cursor, after: text.After, told: text.Told }
      return { delta: lifetime.delta, position }
    },
    use(token, position, now) {
      const then = usedAt.get(token)
      usedAt.set(token, now)
      if (then === undefined || options.usedDeltaLink === 'answers') return position
      if (options.usedDeltaLink === 'continues') return { cursor: then, after: then, told: then }
      const status = options.usedDeltaLink === 'gone' ? 410 : 409
      throw new ServiceError(status, 'The delta link was used before')
    },
    expire(collection) {
      for (const lifetime of lifetimes.values()) {
        if (collection === undefined || lifetime.delta.collection === collection)
          lifetime.ended = true
      }
    },
  }
}

function parse(token: string, phase: Phase): TokenText {
  try {
    const text = JSON.parse(Buffer.from(token, 'base64').toString()) as TokenText
    if (typeof text.Id === 'string' && text.Phase === phase) return text
  } catch {
    // Refused below, like any other invalid text.
  }
  throw new ServiceError(400, 'The delta token is not valid')
}

/** A change as a delta reports it: a record, or the id and version of a deleted one. */
export interface ChangeItem {
  readonly sequence: number
  readonly type: 'InsertOrUpdate' | 'Delete'
  readonly text: string
}

/**
 * The changes of its collection that a delta reports since its cursor: the latest state of each changed id
 * (with `deltaLog` every change), ordered by version, from the position of the page on. A record is reported
 * if the filter of the start matches its latest state, or a state that the consumer may have seen.
 */
export function changesSince(
  history: readonly Change[],
  delta: Delta,
  { after, told }: Pick<DeltaPosition, 'after' | 'told'>,
  options: ResolvedOptions,
): ChangeItem[] {
  const groups = new Map<unknown, Change[]>()
  for (const change of history) {
    if (change.isSilent) continue
    const key = options.deltaLog ? change.sequence : change.id
    const group = groups.get(key)
    if (group) group.push(change)
    else groups.set(key, [change])
  }
  return [...groups.values()]
    .filter((group) => !options.netDelta || !cameAndWent(group, told))
    .map((group) => itemOf(group, delta, options))
    .filter((item) => item !== undefined)
    .filter(({ sequence }) => sequence > after)
    .sort((a, b) => a.sequence - b.sequence)
}

/** Whether a record was created and deleted again before the consumer can have received it. */
function cameAndWent(group: readonly Change[], told: number): boolean {
  const [first] = group as readonly [Change]
  return first.before === undefined && first.sequence > told && group.at(-1)?.after === undefined
}

function itemOf(group: readonly Change[], delta: Delta, options: ResolvedOptions) {
  const last = group.at(-1) as Change
  const matches = (record: StoredRecord | undefined) =>
    record !== undefined && (!options.deltaFilterBound || delta.filter.matches(record))
  const seen = group.some(({ before, after }) => matches(before) || matches(after))
  if (!seen) return undefined
  if (matches(last.after)) return upsert(last)
  if (last.after === undefined) return gone(last, options)
  if (options.leavingRow === 'nothing') return undefined
  return options.leavingRow === 'update' ? upsert(last) : gone(last, options)
}

function upsert({ sequence, after }: Change): ChangeItem {
  return { sequence, type: 'InsertOrUpdate', text: after?.text ?? '' }
}

function gone({ sequence, version, id }: Change, { staleDeletes }: ResolvedOptions): ChangeItem {
  const changeVersion = staleDeletes ? '0'.repeat(version.length) : version
  return { sequence, type: 'Delete', text: JSON.stringify({ changeVersion, id }) }
}
