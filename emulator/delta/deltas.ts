import { randomUUID } from 'node:crypto'
import type { Clock } from '../clock.ts'
import type { Filter } from '../filter/check.ts'
import { ServiceError } from '../http/service-error.ts'
import type { ResolvedOptions } from '../options.ts'
import type { ReferencePair } from '../references/reference-pairs.ts'

/** What one consumer reads of one collection: once as a whole, then its changes. */
export interface Delta {
  readonly id: string
  readonly client: string
  readonly collection: string
  readonly filter: Filter
  readonly pairs: readonly ReferencePair[]
  /** The parameters of the start that its next links repeat, by name. */
  readonly parameters: ReadonlyMap<string, string>
  /** The latest change of the tenant when the delta was started: phase 2 begins behind it. */
  readonly startedAt: number
}

/** What a delta token goes on with: the whole set, or the changes since. */
export type Phase = 'load' | 'changes'

/** A request to go on with a delta. */
export interface Resumption {
  readonly client: string
  readonly collection: string
  readonly token: string
  readonly phase: Phase
}

/** Where a delta token stands: behind `cursor`, and on a page of many behind the change `after`. */
export interface DeltaPlace {
  readonly cursor: number
  readonly after: number
  /** The consumer may have been told of records that were created up to this change. */
  readonly told: number
}

/** The deltas of all consumers, with their lifetimes. */
export interface Deltas {
  /**
   * Opens a delta; another active one of the same client and collection dies, or makes this a 409.
   */
  start(wish: Omit<Delta, 'id'>): Delta
  /** The text that stands for a place in a phase of a delta. */
  token(delta: Delta, phase: Phase, place: DeltaPlace): string
  /**
   * The delta behind a token, which counts as a use: 400 for a text that is none, or one of the
   * other phase; 410 for a delta that has ended or is another client's.
   */
  resume(wish: Resumption): { readonly delta: Delta; readonly place: DeltaPlace }
  /** Refuses a delta link that was answered before, if the options say so. */
  spend(token: string): void
  /** Ends all deltas, or those of one collection. */
  expire(collection?: string): void
}

interface Life {
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
  /** Tells tokens of one place and moment apart. */
  readonly Serial: number
  readonly Utc: string
}

const lifetimeInMs = 72 * 3_600_000

/** Starts without any delta. */
export function createDeltas(options: ResolvedOptions, clock: Clock): Deltas {
  const lives = new Map<string, Life>()
  const spent = new Set<string>()
  let given = 0
  const time = () => clock.now().getTime()
  const young = (since: number) => time() - since <= lifetimeInMs
  const alive = ({ ended, lastGiven, lastUse }: Life) =>
    !ended && young(options.expiry === 'age' ? lastGiven : lastUse)

  return {
    start(wish) {
      for (const life of lives.values()) {
        const { client, collection } = life.delta
        if (client !== wish.client || collection !== wish.collection || !alive(life)) continue
        if (options.secondStart === 'conflict') {
          throw new ServiceError(409, `Another delta of ${collection} is active`)
        }
        life.ended = true
      }
      const delta = { ...wish, id: randomUUID() }
      lives.set(delta.id, { delta, lastUse: time(), lastGiven: time(), ended: false })
      return delta
    },
    token(delta, phase, { cursor, after, told }) {
      const life = lives.get(delta.id)
      if (life) life.lastGiven = time()
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
      const life = lives.get(text.Id)
      const isOwn = life?.delta.collection === collection && life.delta.client === client
      const aged = options.expiry === 'age' && !young(Date.parse(text.Utc))
      if (!isOwn || aged || !alive(life)) {
        throw new ServiceError(410, 'The delta has expired: start again')
      }
      life.lastUse = time()
      const place = { cursor: text.Cursor, after: text.After, told: text.Told }
      return { delta: life.delta, place }
    },
    spend(token) {
      const used = spent.has(token)
      spent.add(token)
      if (!used || options.usedDeltaLink === 'answers') return
      const status = options.usedDeltaLink === 'gone' ? 410 : 409
      throw new ServiceError(status, 'The delta link was used before')
    },
    expire(collection) {
      for (const life of lives.values()) {
        if (collection === undefined || life.delta.collection === collection) life.ended = true
      }
    },
  }
}

function parse(token: string, phase: Phase): TokenText {
  try {
    const text = JSON.parse(Buffer.from(token, 'base64').toString()) as TokenText
    if (typeof text.Id === 'string' && text.Phase === phase) return text
  } catch {
    // Answered below like any other text that is no token.
  }
  throw new ServiceError(400, 'The delta token is not valid')
}
