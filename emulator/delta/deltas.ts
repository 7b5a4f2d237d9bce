import { randomUUID } from 'node:crypto'
import type { Clock } from '../clock.ts'
import type { Filter } from '../filter/check.ts'
import { ServiceError } from '../http/service-error.ts'
import type { ResolvedOptions } from '../options.ts'
import type { ReferencePair } from '../references/reference-pairs.ts'

/** One client's reading of one collection: once as a whole, then its changes. */
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

/** What a delta is started with. */
export type DeltaQuery = Omit<Delta, 'id'>

/** What a delta token reads next: more of the whole set, or the changes since. */
export type Phase = 'load' | 'changes'

/** A request that carries a delta token. */
export interface DeltaTokenQuery {
  readonly client: string
  readonly collection: string
  readonly token: string
  readonly phase: Phase
}

/**
 * Where a delta token stands: after the change `cursor`, and between two pages of changes after the
 * change `after`.
 */
export interface DeltaPosition {
  readonly cursor: number
  readonly after: number
  /** The consumer may have been told of the records that were created up to this change. */
  readonly told: number
}

/** The deltas of all clients, with their lifetimes. */
export interface Deltas {
  /**
   * Starts a delta. Another active one of the same client and collection ends, or makes this a 409
   * (`secondStart`).
   */
  start(query: DeltaQuery): Delta
  /** The text that stands for a position in a phase of a delta. */
  token(delta: Delta, phase: Phase, position: DeltaPosition): string
  /**
   * The delta of a token, which counts as a use. Throws 400 for a text that is no token of this phase,
   * 410 for a delta that has ended or belongs to another client.
   */
  resume(query: DeltaTokenQuery): { readonly delta: Delta; readonly position: DeltaPosition }
  /** Counts the use of a delta link; 409 or 410 for the second one if `usedDeltaLink` says so. */
  markUsed(token: string): void
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
  /** Tells tokens of one position and moment apart. */
  readonly Serial: number
  readonly Utc: string
}

const lifetimeInMs = 72 * 3_600_000

/** Starts without any delta. */
export function createDeltas(options: ResolvedOptions, clock: Clock): Deltas {
  const lifetimes = new Map<string, Lifetime>()
  const usedTokens = new Set<string>()
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
    markUsed(token) {
      const used = usedTokens.has(token)
      usedTokens.add(token)
      if (!used || options.usedDeltaLink === 'answers') return
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
    // Refused below, like any other text that is no token.
  }
  throw new ServiceError(400, 'The delta token is not valid')
}
