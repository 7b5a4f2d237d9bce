import { json } from './exchange.ts'
import {
  createFaults,
  type FailOptions,
  type FaultKind,
  type FaultOptions,
  type Faults,
  type Handler,
  type Occurrence,
} from './faults.ts'
import { everything } from './filter/check.ts'
import type { Service } from './service.ts'
import { errorBody, ServiceError } from './service-error.ts'

/**
 * What can be done to the service from outside. Paths are those below the API's prefix (`/people`,
 * `/delta/people`) or `/connect/token`; how texts and patterns match is said at `Faults`. Without
 * `times` a fault lasts until it is cleared.
 */
export interface Verbs {
  /** Answers with this status instead of asking the service, so nothing else happens. */
  fail(path: string | RegExp, status: number, options?: FailOptions): void
  /** Disturbs the exchange on the wire. */
  fault(path: string | RegExp, kind: FaultKind, options?: FaultOptions): void
  /** Answers with whatever the handler returns; undefined leaves the request to the service. */
  respond(path: string | RegExp, handler: Handler, options?: Occurrence): void
  clearFaults(): void
  /** Ends all access tokens: 401. */
  expireTokens(): void
  /** Ends all deltas, or those of one collection: 410. */
  expireDelta(collection?: string): void
  /** Ends all continuation tokens given so far, with 409 unless told otherwise. */
  expireContinuations(status?: 400 | 409 | 410): void
  /**
   * A second consumer with the same credentials starts a delta: the first one dies, or the second
   * is refused (`secondStart`).
   */
  stealDelta(collection: string): void
}

/** Makes the verbs, and the faults that the server asks about each request. */
export function createVerbs(service: Service): { readonly verbs: Verbs; readonly faults: Faults } {
  const faults = createFaults()
  const { deltas, store, options } = service
  const verbs: Verbs = {
    fail(path, status, { headers, body, ...occurrence } = {}) {
      const answer = json(body ?? errorBody(status, 'A failure that was asked for'), status)
      const handler = () => ({ ...answer, headers: { ...answer.headers, ...headers } })
      faults.add(path, { type: 'answer', handler }, occurrence)
    },
    fault: (path, kind, details = {}) =>
      faults.add(path, { type: 'fault', kind, options: details }, details),
    respond: (path, handler, occurrence = {}) =>
      faults.add(path, { type: 'answer', handler }, occurrence),
    clearFaults: faults.clear,
    expireTokens: service.tokens.expire,
    expireDelta: deltas.expire,
    expireContinuations: (status = 409) => service.continuations.expire(status),
    stealDelta(collection) {
      const startedAt = store.sequence()
      for (const { id: client } of options.clients) {
        try {
          const wish = { client, collection, filter: everything, pairs: [], startedAt }
          deltas.start({ ...wish, parameters: new Map() })
        } catch (error) {
          // Where a second start is refused, the thief goes away with empty hands.
          if (!(error instanceof ServiceError)) throw error
        }
      }
    },
  }
  return { verbs, faults }
}
