import { type Clock, createClock, type Span } from './clock.ts'
import { collections } from './collections.ts'
import { createContinuations } from './continuations.ts'
import { createDeltas } from './deltas.ts'
import { json } from './exchange.ts'
import {
  createFaults,
  type FailOptions,
  type FaultKind,
  type FaultOptions,
  type Handler,
  type Occurrence,
} from './faults.ts'
import { everything } from './filter/check.ts'
import { structureVersion } from './generate/catalogues.ts'
import { firstDay, generateTenant } from './generate/tenant.ts'
import { type LoggedRequest, listen, originOf } from './http-server.ts'
import { createLimiter } from './limiter.ts'
import { createLinks } from './links.ts'
import { createMembers } from './members.ts'
import { createMutations, fieldsOf, type Mutations } from './mutations.ts'
import { type EmulatorOptions, type ResolvedOptions, resolveOptions } from './options.ts'
import { createRandom } from './random.ts'
import { type ChangeCounts, type ChangeWish, randomChanges } from './random-changes.ts'
import { createReferences } from './references.ts'
import type { Service } from './service.ts'
import { errorBody } from './service-error.ts'
import { createStore, type Fields, type Id } from './store.ts'
import { createTokens, tenantName } from './tokens.ts'

/** The whole service on loopback, and the hands that move it. */
export interface Emulator extends Mutations {
  /** The origin of both hosts, for example `http://127.0.0.1:43111`. */
  readonly url: string
  /** Live: a change holds from the next request on. */
  readonly options: ResolvedOptions
  /** The levels that `/activity-structure-versions/...` has. */
  readonly activityStructures: readonly { structure_version_id: string; level: number }[]
  /** A configuration with which the connector reads this tenant. */
  config(): Record<string, unknown>
  /** The virtual clock. */
  now(): Date
  advance(by: Span): void
  /** The live truth, ascending by id: what is stored, without the softly deleted records. */
  all(collection: string): Fields[]
  /** Everything that is stored, softly deleted records too. */
  stored(collection: string): Fields[]
  /** Many small plausible changes, spread over all collections; the same seed repeats them. */
  randomChanges(wish: ChangeWish): ChangeCounts
  /** Registers a custom external reference. */
  setReference(collection: string, name: string, value: string, id: Id): void
  removeReference(collection: string, name: string, value: string): void
  /** Answers matching requests with a status, before the service sees them; until cleared unless `times` is given. */
  fail(path: string | RegExp, status: number, options?: FailOptions): void
  /** Disturbs matching requests; until cleared unless `times` is given. */
  fault(path: string | RegExp, kind: FaultKind, options?: FaultOptions): void
  /** Answers matching requests with whatever the handler returns; undefined leaves the request to the service. */
  respond(path: string | RegExp, handler: Handler, options?: Occurrence): void
  clearFaults(): void
  /** Calls the listener before each request is answered, so that it may change data; the answer ends that. */
  onRequest(listener: (request: LoggedRequest) => void): () => void
  /** Ends all access tokens: 401. */
  expireTokens(): void
  /** Ends all deltas, or those of one collection: 410. */
  expireDelta(collection?: string): void
  /** Ends all continuation tokens given so far. @default 409 */
  expireContinuations(status?: 400 | 409 | 410): void
  /** Starts a delta as a second consumer with the same credentials would. */
  stealDelta(collection: string): void
  /** Every request since the start, in the order of arrival. */
  readonly requests: readonly LoggedRequest[]
  close(): Promise<void>
}

/** Makes a tenant and serves it on 127.0.0.1 until `close`. */
export async function startEmulator(given: EmulatorOptions = {}): Promise<Emulator> {
  const options = resolveOptions(given)
  const clock = createClock(options.now)
  const random = createRandom(options.seed)
  const service = createService(options, clock, () => url)
  const { store, references, deltas } = service
  generateTenant(options, store, references, random)
  const mutations = createMutations(store, clock, random)
  const faults = createFaults()
  const requests: LoggedRequest[] = []
  const listeners = new Set<(request: LoggedRequest) => void>()
  let url = ''
  const announce = (entry: LoggedRequest) => {
    requests.push(entry)
    for (const listener of listeners) listener(entry)
  }
  const limiter = createLimiter(options)
  const parts = { service, faults, limiter, announce, origin: () => url }
  const server = await listen(parts, options.port)
  url = originOf(server)
  const stored = (collection: string) => store.records(collection).map(fieldsOf)

  return {
    ...mutations,
    url,
    options,
    requests,
    activityStructures: [1, 2].map((level) => ({ structure_version_id: structureVersion, level })),
    config: () => configOf(options, url),
    now: clock.now,
    advance: clock.advance,
    stored,
    all: (collection) =>
      collections[collection]?.softDeletes
        ? stored(collection).filter((record) => record['status'] !== 'Deleted')
        : stored(collection),
    randomChanges: (wish) => randomChanges(wish, store, mutations),
    setReference: references.set,
    removeReference: references.remove,
    fail(path, status, { headers, body, ...occurrence } = {}) {
      const text = body ?? errorBody(status, 'A failure that was asked for')
      const answer = json(text, status)
      const handler = () => ({ ...answer, headers: { ...answer.headers, ...headers } })
      faults.add(path, { type: 'answer', handler }, occurrence)
    },
    fault: (path, kind, details = {}) =>
      faults.add(path, { type: 'fault', kind, options: details }, details),
    respond: (path, handler, occurrence = {}) =>
      faults.add(path, { type: 'answer', handler }, occurrence),
    clearFaults: faults.clear,
    onRequest(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    expireTokens: service.tokens.expire,
    expireDelta: deltas.expire,
    expireContinuations: (status = 409) => service.continuations.expire(status),
    stealDelta(collection) {
      const startedAt = store.sequence()
      for (const { id } of options.clients) {
        deltas.start({ client: id, collection, filter: everything, pairs: [], startedAt })
      }
    },
    async close() {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  }
}

function createService(options: ResolvedOptions, clock: Clock, origin: () => string): Service {
  const store = createStore()
  return {
    options,
    clock,
    store,
    references: createReferences(store),
    links: createLinks(options, origin),
    continuations: createContinuations(),
    deltas: createDeltas(options, clock),
    tokens: createTokens(options, clock),
    members: createMembers(store),
  }
}

function configOf(options: ResolvedOptions, url: string): Record<string, unknown> {
  const [client] = options.clients
  return {
    tenant: tenantName,
    environment: {
      type: 'custom',
      api_name: options.apiName,
      base_url: url,
      auth_url: `${url}/tenants/${tenantName}`,
    },
    client_id: client?.id,
    client_secret: client?.secret,
    start_date: firstDay(options),
  }
}
