import type { Server } from 'node:http'
import { createTokens } from './auth/tokens.ts'
import { addDays, type Clock, createClock, dateOf, type Span } from './clock.ts'
import { collections } from './collections/collections.ts'
import { listenForControl } from './control/control-server.ts'
import { type Controls, createDisturbances, createWebhookControls } from './control/controls.ts'
import { createDeltas } from './delta/deltas.ts'
import { deleteReference, putReference } from './endpoints/references.ts'
import { handleRequest } from './endpoints/router.ts'
import {
  createContinuations,
  createForbidden,
  createHiddenPeople,
  createLinks,
  type ListedPage,
  type Service,
} from './endpoints/service.ts'
import { createPersonGroups } from './filter/check.ts'
import { createRandom } from './generate/random.ts'
import { structureLevels, structureVersion } from './generate/reference-data.ts'
import { checkTenantSize, firstDay, generateTenant } from './generate/tenant.ts'
import { createRateLimiter, type LoggedRequest, listen, originOf } from './http/http-server.ts'
import type { ServiceRequest } from './http/messages.ts'
import { createMutations } from './mutations/mutations.ts'
import { randomChanges } from './mutations/random-changes.ts'
import { type EmulatorOptions, type ResolvedOptions, resolveOptions } from './options.ts'
import {
  type CustomReference,
  createReferences,
  type ReferencePair,
} from './references/references.ts'
import { createStore, exactFieldsOf, type Fields, fieldsOf, type Id } from './store/store.ts'
import { createDeliveries } from './webhooks/deliveries.ts'
import { createDeliveryFaults } from './webhooks/delivery.ts'
import { createWebhooks } from './webhooks/webhooks.ts'

export type { EmulatorOptions } from './options.ts'

/** The endpoints of the service on loopback, with all controls for tests. */
export interface Emulator extends Controls {
  /** The origin of both hosts, for example `http://127.0.0.1:43111`. */
  readonly url: string
  /** The origin of the control endpoint, if there is one. */
  readonly controlUrl: string | undefined
  /** The levels below `/activity-structure-versions`, which only the documentation has. */
  readonly activityStructures: readonly { structure_version_id: string; level: number }[]
  /** The custom references of a collection, as their endpoint shows them. */
  references(collection: string): readonly CustomReference[]
  /**
   * Calls the listener before each request is handled, so that it can change data. Returns a function
   * that removes the listener.
   */
  onRequest(listener: (request: LoggedRequest) => void): () => void
  /**
   * Calls the listener with the records of each page of a list, and of the first phase of a delta, before it is sent.
   * Returns a function that removes the listener.
   */
  onPage(listener: (page: ListedPage) => void): () => void
  close(): Promise<void>
}

/** Creates a tenant and serves it on 127.0.0.1 until `close`. */
export async function startEmulator(given: EmulatorOptions = {}): Promise<Emulator> {
  const options = resolveOptions(given)
  checkTenantSize(options)
  const clock = createClock(options.now)
  const random = createRandom(options.seed)
  let url = ''
  const service = createService(options, clock, () => url)
  generateTenant(options, service.store, service.references, random)
  service.store.onChange(service.deliveries.raise)
  const { disturbances, faults } = createDisturbances(service)
  const requests: LoggedRequest[] = []
  const listeners = new Set<(request: LoggedRequest) => void>()
  const announce = (entry: LoggedRequest) => {
    requests.push(entry)
    for (const listener of listeners) listener(entry)
  }
  const limiter = createRateLimiter(options)
  const parts = {
    options,
    clock,
    prefix: service.links.prefix,
    faults,
    limiter,
    announce,
    handle: (request: ServiceRequest) => handleRequest(service, request),
  }
  const servers = [await listen(parts, options.port)]
  url = originOf(servers[0] as Server)
  const mutations = createMutations({ ...service, random })
  const emulator: Emulator = {
    ...mutations,
    ...disturbances,
    ...createWebhookControls(service),
    ...views(service),
    url,
    controlUrl: undefined,
    options,
    requests,
    randomChanges: (wanted) => randomChanges(wanted, service.store, mutations),
    onRequest(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    onPage(listener) {
      service.pageListeners.add(listener)
      return () => void service.pageListeners.delete(listener)
    },
    async close() {
      service.deliveries.close()
      await Promise.all(servers.map(shut))
    },
  }
  if (options.controlPort === false) return emulator
  try {
    const control = await listenForControl(emulator, options.controlPort)
    servers.push(control)
    return Object.assign(emulator, { controlUrl: originOf(control) })
  } catch (error) {
    await emulator.close()
    throw error
  }
}

function createService(options: ResolvedOptions, clock: Clock, origin: () => string): Service {
  const store = createStore(options)
  const references = createReferences(store, options)
  const webhooks = createWebhooks(options, clock)
  const deliveryFaults = createDeliveryFaults(options.seed)
  const parts = { options, clock, store, references, webhooks, deliveryFaults }
  return {
    ...parts,
    deliveries: createDeliveries(parts),
    links: createLinks(options, origin),
    continuations: createContinuations(),
    forbidden: createForbidden(),
    hiddenPeople: createHiddenPeople(),
    deltas: createDeltas(options, clock),
    tokens: createTokens(options, clock),
    personGroups: createPersonGroups(store),
    pageListeners: new Set(),
    url: origin,
  }
}

function views(service: Service) {
  const { options, store, clock, references, deliveries, url } = service
  const stored = (collection: string) => store.records(collection).map(fieldsOf)
  const decorated = (collection: string, wanted: readonly ReferencePair[]): Fields[] =>
    store
      .records(collection)
      .map(({ text }) => JSON.parse(references.decorate(collection, text, wanted)))
  const deleted = (collection: string, record: Fields) =>
    collections[collection]?.softDeletes === true && record['status'] === 'Deleted'
  return {
    stored,
    all: (collection: string, wanted: readonly ReferencePair[] = []) =>
      decorated(collection, wanted).filter((one) => !deleted(collection, one)),
    exact: (collection: string) => store.records(collection).map(({ text }) => exactFieldsOf(text)),
    references: references.list,
    now: clock.now,
    advance(by: Span) {
      clock.advance(by)
      deliveries.wake()
    },
    setReference: (collection: string, name: string, value: string, id: Id) =>
      putReference(service, { collection, name, value }, String(id)),
    removeReference: (collection: string, name: string, value: string) =>
      void deleteReference(service, { collection, name, value }),
    activityStructures,
    config: (host = '127.0.0.1') => configOf(options, url().replace('127.0.0.1', host)),
  }
}

const activityStructures = structureLevels.map((level) => ({
  structure_version_id: structureVersion,
  level,
}))

function configOf(options: ResolvedOptions, url: string): Record<string, unknown> {
  const [client] = options.clients
  return {
    tenant: options.tenant,
    environment: {
      type: 'custom',
      api_name: options.apiName,
      base_url: url,
      auth_url: `${url}/tenants/${options.tenant}`,
    },
    client_id: client?.id,
    client_secret: client?.secret,
    start_date: startDate(options),
    // The people of this tenant are invented, so no personal data has to be left out.
    personal_data: 'complete',
    ...(options.dialect === 'documentation' && { activity_structures: activityStructures }),
  }
}

/**
 * The first day of dated records, or the latest day on which a delta can start if that is later.
 */
function startDate(options: ResolvedOptions): string {
  const latest = addDays(dateOf(new Date(options.now)), -2)
  const first = firstDay(options)
  if (first > latest) return latest
  return first
}

async function shut(server: Server): Promise<void> {
  const closed = new Promise((resolve) => server.close(resolve))
  server.closeAllConnections()
  await closed
}
