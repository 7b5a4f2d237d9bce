import type { Span } from '../clock.ts'
import type { Service } from '../endpoints/service.ts'
import { everything } from '../filter/check.ts'
import {
  createFaults,
  type FailOptions,
  type FaultKind,
  type FaultOptions,
  type Faults,
  faultOf,
  type Handler,
  type Occurrence,
} from '../http/faults.ts'
import type { LoggedRequest } from '../http/http-server.ts'
import { errorBody, json, ServiceError } from '../http/messages.ts'
import type { Mutations } from '../mutations/mutations.ts'
import type { ChangeCounts, WantedChanges } from '../mutations/random-changes.ts'
import type { ResolvedOptions } from '../options.ts'
import type { ReferencePair } from '../references/references.ts'
import type { Fields, Id } from '../store/store.ts'
import {
  type DeliveryFaultKind,
  type DeliveryFaultOptions,
  deliveryView,
} from '../webhooks/delivery.ts'
import { fieldsOfWebhook, type Webhook } from '../webhooks/webhooks.ts'

/**
 * The failures that can be set. Paths are those below the API's prefix (`/people`, `/delta/people`) or
 * `/connect/token`; `Faults` says how texts and patterns match. Without `times`, a fault lasts until it is
 * cleared.
 */
export interface Disturbances {
  /** Answers with this status instead of the service, so nothing else happens. */
  fail(path: string | RegExp, status: number, options?: FailOptions): void
  /** Breaks the connection of a request, or leaves records out of a list. */
  fault(path: string | RegExp, kind: FaultKind, options?: FaultOptions): void
  /** Answers with the handler's result; undefined leaves the request to the service. */
  respond(path: string | RegExp, handler: Handler, options?: Occurrence): void
  /** Answers 403 to requests that read or write this single record, or write a reference of it. */
  forbid(collection: string, id: Id): void
  /**
   * Hides people from all clients with everything that belongs to them, like a right that the clients have lost: lists,
   * deltas and references lack them, and single records are missing (404). Each call replaces the one before.
   */
  hide(isHidden: (person: number) => boolean): void
  clearFaults(): void
  /** Expires all access tokens: 401. */
  expireTokens(): void
  /** Ends all deltas, or those of one collection: 410. */
  expireDelta(collection?: string): void
  /** Expires all continuation tokens issued so far; default status 409. */
  expireContinuations(status?: 400 | 409 | 410): void
  /**
   * Starts a delta as a second consumer with the same credentials: the delta of the first one ends,
   * or the second start is refused (`secondStart`).
   */
  stealDelta(collection: string): void
}

/** Creates the disturbances, and the faults that the server checks for each request. */
export function createDisturbances(service: Service): {
  readonly disturbances: Disturbances
  readonly faults: Faults
} {
  const faults = createFaults()
  const { deltas, store, options } = service
  const disturbances: Disturbances = {
    fail(path, status, { headers, body, effectMs, ...occurrence } = {}) {
      const answer = json(body ?? errorBody(status, 'A failure that was asked for'), status)
      const handler = () => ({ ...answer, headers: { ...answer.headers, ...headers } })
      faults.add(path, { type: 'response', handler, effectMs }, occurrence)
    },
    fault: (path, kind, details = {}) => faults.add(path, faultOf(kind, details), details),
    respond: (path, handler, occurrence = {}) =>
      faults.add(path, { type: 'response', handler }, occurrence),
    forbid: service.forbidden.add,
    hide: service.hiddenPeople.hide,
    clearFaults() {
      faults.clear()
      service.forbidden.clear()
      service.deliveryFaults.clear()
      service.deliveries.release()
    },
    expireTokens: service.tokens.expire,
    expireDelta: deltas.expire,
    expireContinuations: (status = 409) => service.continuations.expire(status),
    stealDelta(collection) {
      const startedAt = store.sequence()
      for (const { id: client } of options.clients) {
        try {
          const query = { client, collection, filter: everything, pairs: [], startedAt }
          deltas.start({ ...query, parameters: new Map() })
        } catch (error) {
          // With `secondStart: 'conflict'` the start is refused, and the other delta stays active.
          if (!(error instanceof ServiceError)) throw error
        }
      }
    },
  }
  return { disturbances, faults }
}

/** The controls of a running emulator, for tests and the control endpoint. */
export interface Controls extends Mutations, Disturbances, WebhookControls {
  /** A change takes effect with the next request. */
  readonly options: ResolvedOptions
  /** Every request since the start, in the order of arrival. */
  readonly requests: readonly LoggedRequest[]
  /** A configuration with which the connector reads this tenant, at one of its two addresses. */
  config(host?: '127.0.0.1' | 'localhost'): Record<string, unknown>
  /** The time of the virtual clock. */
  now(): Date
  /** Moves the clock at once; deliveries that become due are attempted afterwards. */
  advance(by: Span): void
  /**
   * The records of a collection, ascending by id, without soft-deleted ones; with the wanted external
   * references in their places.
   */
  all(collection: string, wanted?: readonly ReferencePair[]): Fields[]
  /**
   * The same as `stored`, with numbers that a double cannot keep exactly as `{ "$digits": "…" }`.
   */
  exact(collection: string): Fields[]
  /** All records of a collection, including soft-deleted ones. */
  stored(collection: string): Fields[]
  /**
   * Makes many plausible changes in all collections; the same seed on the same tenant repeats them.
   */
  randomChanges(wanted: WantedChanges): ChangeCounts
  /**
   * Registers a custom reference like a PUT; throws if the PUT would be refused (`putReference`).
   */
  setReference(collection: string, name: string, value: string, id: Id): void
  /**
   * Removes a custom reference like a DELETE; it is no error if the reference is not registered.
   */
  removeReference(collection: string, name: string, value: string): void
}

/** Which webhooks are meant: one, those of a collection, or all. */
export interface WebhookChoice {
  readonly id?: string
  readonly collection?: string
}

/** The controls of webhooks and of their deliveries. */
export interface WebhookControls {
  /**
   * Lets virtual time pass as `advance` does, but stops at each moment at which a delivery is due.
   * Resolves when everything that became due was attempted.
   */
  elapse(by: Span): Promise<void>
  /** Lets deliveries go wrong; `clearFaults` ends it. */
  deliveryFault(kind: DeliveryFaultKind, options?: DeliveryFaultOptions): void
  /** Gives webhooks the status Disabled and drops their waiting deliveries. */
  disableWebhooks(choice?: WebhookChoice): void
  /** Ends the validity of webhooks now and drops their waiting deliveries. */
  expireWebhooks(choice?: WebhookChoice): void
  /** Every webhook since the start with its key, deleted ones too. */
  webhooks(): Fields[]
  /** Every delivery since the start with its attempts, and when the next one is due. */
  deliveries(): ReturnType<typeof deliveryView>[]
}

/** Creates the controls. */
export function createWebhookControls(service: Service): WebhookControls {
  const { webhooks, deliveries, deliveryFaults, options } = service
  const end = (how: (webhook: Webhook) => void, choice: WebhookChoice = {}) => {
    for (const webhook of webhooks.list()) {
      const { id = webhook.id, collection = webhook.collection } = choice
      if (webhook.id === id && webhook.collection === collection) how(webhook)
    }
    deliveries.purge()
  }
  return {
    elapse: deliveries.elapse,
    deliveryFault: deliveryFaults.add,
    disableWebhooks: (choice) => end(webhooks.disable, choice),
    expireWebhooks: (choice) => end(webhooks.expire, choice),
    webhooks: () =>
      webhooks.list().map((webhook) => ({
        ...fieldsOfWebhook(webhook, webhooks, options),
        key: webhook.key,
        ...(webhook.isDeleted && { isDeleted: true }),
      })),
    deliveries: () => deliveries.all.map(deliveryView),
  }
}
