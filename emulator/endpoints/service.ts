import { type Access, checkScope, type Grant, type Tokens } from '../auth/tokens.ts'
import type { Clock } from '../clock.ts'
import type { Deltas } from '../delta/deltas.ts'
import type { PersonGroups } from '../filter/check.ts'
import {
  notAllowed,
  ServiceError,
  type ServiceRequest,
  type ServiceResponse,
} from '../http/messages.ts'
import type { ResolvedOptions } from '../options.ts'
import type { References } from '../references/references.ts'
import type { Id, Store, StoredRecord } from '../store/store.ts'
import type { Deliveries } from '../webhooks/deliveries.ts'
import type { DeliveryFaults } from '../webhooks/delivery.ts'
import type { Webhooks } from '../webhooks/webhooks.ts'

/** The parts of a query in order; left-out values are not written. */
type LinkParameters = readonly (readonly [name: string, value: string | undefined])[]

/** Writes the links that the service returns. */
export interface Links {
  /** `/connector/<api>/api/v1` */
  readonly prefix: string
  /** A link to a path below the prefix, in the form of the dialect. */
  to(path: string, parameters: LinkParameters): string
  /** The address of a new resource in the header `Location`. */
  location(path: string): string
}

/**
 * In the documentation links are relative, with raw spaces and quotes; in the specification they are
 * absolute and encoded. `origin` is a function because the port is known only once the server listens.
 */
export function createLinks(options: ResolvedOptions, origin: () => string): Links {
  const prefix = `/connector/${options.apiName}/api/v1`
  const absolute = options.dialect === 'specification'
  const write = absolute ? encodeURIComponent : raw
  return {
    prefix,
    to(path, parameters) {
      const query = parameters
        .filter(([, value]) => value !== undefined)
        .map(([name, value]) => `${name}=${write(value ?? '')}`)
      return `${absolute ? origin() : ''}${prefix}${path}?${query.join('&')}`
    },
    location: (path) => `${options.location === 'absolute' ? origin() : ''}${prefix}${path}`,
  }
}

// Encodes only the characters that would change the meaning of the query.
function raw(value: string): string {
  return value.replace(/[%&#]/g, encodeURIComponent)
}

/** Continuation tokens, which contain a position as JSON. */
export interface Continuations {
  /** A token for a place in a list. */
  give(list: string, place: unknown): string
  /**
   * The place of a token; throws `unknown` (400 or 409) for one that was not given for this list.
   */
  read(list: string, token: string, unknown: 400 | 409): unknown
  /** Expires all tokens given so far. */
  expire(status: 400 | 409 | 410): void
}

// With this prefix the Base64 text is likely to have plus signs and slashes, which shows whether a client decodes a
// token or encodes it twice.
const prefix = '~~~???'

/** Creates the tokens of a service. They contain their position, so none is stored. */
export function createContinuations(): Continuations {
  let given = 0
  let expired = 0
  let expiredStatus = 409
  return {
    give(list, place) {
      const text = prefix + JSON.stringify([++given, list, place])
      return Buffer.from(text).toString('base64')
    },
    read(list, token, unknown) {
      const [number, of, place] = parse(token) ?? []
      if (typeof number !== 'number' || of !== list || number > given) {
        throw new ServiceError(unknown, 'The continuation token is not valid')
      }
      if (number <= expired)
        throw new ServiceError(expiredStatus, 'The continuation token has expired')
      return place
    },
    expire(status) {
      expired = given
      expiredStatus = status
    },
  }
}

function parse(token: string): unknown[] | undefined {
  const text = Buffer.from(token, 'base64').toString()
  if (!text.startsWith(prefix)) return undefined
  try {
    const value: unknown = JSON.parse(text.slice(prefix.length))
    return Array.isArray(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** Records that no client may read or write, and whose references it may not write. */
export interface Forbidden {
  add(collection: string, id: Id): void
  /** Throws 403 for a record that is forbidden. */
  check(collection: string, id: Id): void
  clear(): void
}

/** Creates an empty list: every record is allowed. */
export function createForbidden(): Forbidden {
  const records = new Set<string>()
  return {
    add: (collection, id) => void records.add(`${collection} ${id}`),
    check(collection, id) {
      if (!records.has(`${collection} ${id}`)) return
      throw new ServiceError(403, `The client has no access to ${id} of ${collection}`)
    },
    clear: () => records.clear(),
  }
}

/** The people that no client may see, with everything that belongs to them. */
export interface HiddenPeople {
  /** From now on, the people with these ids are hidden, and no others. */
  hide(isHidden: (person: number) => boolean): void
  /** Whether clients may see a record: it is none of a hidden person, and about none. */
  isShown(collection: string, record: Pick<StoredRecord, 'id' | 'person'>): boolean
  isShownReference(collection: string, record: string): boolean
}

/** Creates the rights of clients: they see everybody. */
export function createHiddenPeople(): HiddenPeople {
  let isHidden = (_person: number) => false
  return {
    hide(people) {
      isHidden = people
    },
    isShown(collection, { id, person }) {
      const of = collection === 'people' ? Number(id) : person
      return of === undefined || !isHidden(of)
    },
    isShownReference: (collection, record) => collection !== 'people' || !isHidden(Number(record)),
  }
}

/** The records on a page. */
export interface ListedPage {
  readonly collection: string
  /** Whether it is of the first phase of a delta, not of a list. */
  readonly isDelta: boolean
  /** Whether the list begins with it. */
  readonly isFirst: boolean
  /** Whether the list ends with it. */
  readonly isLast: boolean
  readonly ids: readonly Id[]
}

/** Everything that the endpoints share. */
export interface Service {
  readonly options: ResolvedOptions
  readonly clock: Clock
  readonly store: Store
  readonly references: References
  readonly links: Links
  readonly continuations: Continuations
  readonly deltas: Deltas
  readonly tokens: Tokens
  readonly personGroups: PersonGroups
  readonly webhooks: Webhooks
  readonly deliveries: Deliveries
  readonly deliveryFaults: DeliveryFaults
  readonly forbidden: Forbidden
  readonly hiddenPeople: HiddenPeople
  /** Called with each page of a list, and of the first phase of a delta. */
  readonly pageListeners: Set<(page: ListedPage) => void>
  /** The origin of both hosts. */
  url(): string
}

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

/** Handles a request of the client with this id. */
type Handle = (client: string) => ServiceResponse

/** What a path can do. */
export interface Route {
  /** The collection whose scope is needed: `.read` for a GET, `.write` for any other method. */
  readonly collection: string
  readonly methods: Readonly<Partial<Record<Method, Handle>>>
}

/**
 * Handles a request by the method of its route. A client without a scope of the path does not learn whether
 * the method exists: 401 and 403 come before 405. A HEAD is a GET without a body in the answer.
 */
export function handleByMethod(
  { collection, methods }: Route,
  { method }: ServiceRequest,
  grant: Grant,
  options: ResolvedOptions,
): ServiceResponse {
  const known = Object.keys(methods)
  const wanted = method === 'HEAD' ? 'GET' : method
  const handle = (methods as Readonly<Record<string, Handle>>)[wanted]
  const client = checkScope(options, grant, collection, (handle ? [wanted] : known).map(accessOf))
  if (handle) return handle(client)
  const allowed = known.flatMap((one) => (one === 'GET' ? ['GET', 'HEAD'] : [one]))
  throw notAllowed(method, allowed)
}

function accessOf(method: string): Access {
  return method === 'GET' ? 'read' : 'write'
}
