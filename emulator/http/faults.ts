import type { ListFault, ServiceRequest, ServiceResponse } from './messages.ts'

/** Failures of the connection. */
export type WireFaultKind =
  /** The connection breaks before the service has seen the request. */
  | 'reset'
  /** A part of the body arrives, then the connection is closed properly. */
  | 'truncate'
  /** A part of the body arrives, then the connection breaks. */
  | 'half-then-reset'
  /**
   * The service has answered in full, with all side effects, but the connection breaks before the
   * headers arrive.
   */
  | 'after-last-byte'
  /** The body arrives slowly, in small parts. */
  | 'slow'
  /** An HTML page like that of a proxy, instead of JSON, with status 200. */
  | 'html'
  /** The request is never answered. */
  | 'hang'

/** Failures of an exchange; `repeat`: a proxy sends the request twice. */
export type FaultKind = WireFaultKind | ListFault['kind'] | 'repeat'

const listFaultKinds: readonly FaultKind[] = ['short', 'empty', 'stale']

/** Failures in which the service does not handle the request, unless `effectMs` says otherwise. */
const unseenKinds: readonly FaultKind[] = ['reset', 'html', 'hang']

/** Whether the service executes a request although its answer does not say so. */
interface Effect {
  /** How many real milliseconds after the answer the request is executed; 0: before the answer; left out: never. */
  readonly effectMs?: number | undefined
}

/**
 * How often a disturbance happens: `times` times, after `skip` matching requests have passed; without `times`, until
 * it is cleared.
 */
export interface Occurrence {
  readonly times?: number
  readonly skip?: number
  /** Only requests with this method; left out: with any. */
  readonly method?: string
}

/** Details of `fail`. */
export interface FailOptions extends Occurrence, Effect {
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

/**
 * Details of `fault`: how much of the body arrives (default: half), how long a slow one takes
 * (default: 1000 ms), how many changes of its collection a stale list lacks (default: 1).
 */
export interface FaultOptions extends Occurrence, Effect {
  readonly afterBytes?: number
  readonly ms?: number
  readonly changes?: number
}

/** Creates the response to a request; undefined leaves it to the service. */
export type Handler = (request: ServiceRequest) => ServiceResponse | undefined

/** What happens to one request instead of the ordinary response. */
export type Disturbance =
  | ({ readonly type: 'response'; readonly handler: Handler } & Effect)
  | { readonly type: 'fault'; readonly kind: WireFaultKind; readonly options: FaultOptions }
  | { readonly type: 'list'; readonly fault: ListFault }
  | { readonly type: 'repeat' }

/**
 * The effect of a fault on one request. Throws if an effect of the request is set although the service
 * handles it anyway.
 */
export function faultOf(kind: FaultKind, options: FaultOptions): Disturbance {
  if (options.effectMs !== undefined && !unseenKinds.includes(kind)) {
    throw new RangeError(`effectMs goes with ${unseenKinds.join(', ')}, not with ${kind}`)
  }
  if (kind === 'repeat') return { type: 'repeat' }
  if (!isOfLists(kind)) return { type: 'fault', kind, options }
  return { type: 'list', fault: { kind, changes: options.changes ?? 1 } }
}

/** After how many real milliseconds a disturbed request is executed; undefined if it never is. */
export function effectOf(disturbance: Disturbance | undefined): number | undefined {
  if (disturbance?.type === 'repeat') return 0
  if (disturbance?.type === 'response') return disturbance.effectMs
  return disturbance?.type === 'fault' ? disturbance.options.effectMs : undefined
}

function isOfLists(kind: FaultKind): kind is ListFault['kind'] {
  return listFaultKinds.includes(kind)
}

/** The disturbances that apply to later requests. */
export interface Faults {
  /**
   * Adds a disturbance. A text matches the path and everything below it; a text with a question mark has to be the
   * beginning of the decoded path and query. A pattern is tested against the decoded path and query.
   */
  add(path: string | RegExp, disturbance: Disturbance, occurrence: Occurrence): void
  /** The first disturbance that applies to this request; it counts as one of its times. */
  take(request: ServiceRequest): Disturbance | undefined
  clear(): void
}

interface Waiting {
  readonly path: string | RegExp
  readonly method: string | undefined
  readonly disturbance: Disturbance
  skip: number
  times: number
}

/** Creates an empty list of disturbances. */
export function createFaults(): Faults {
  const waiting: Waiting[] = []
  return {
    add(path, disturbance, { times = Number.POSITIVE_INFINITY, skip = 0, method }) {
      waiting.push({ path, method: method?.toUpperCase(), disturbance, times, skip })
    },
    take(request) {
      for (const one of waiting) {
        if (one.times <= 0 || !matches(one.path, request)) continue
        if (one.method !== undefined && one.method !== request.method) continue
        if (one.skip > 0) {
          one.skip -= 1
          continue
        }
        one.times -= 1
        return one.disturbance
      }
      return undefined
    },
    clear: () => void waiting.splice(0),
  }
}

function matches(wanted: string | RegExp, { path, parameters, query }: ServiceRequest): boolean {
  const pairs = [...parameters].map(([name, value]) => (value === '' ? name : `${name}=${value}`))
  const whole = query === '' ? path : `${path}?${pairs.join('&')}`
  if (wanted instanceof RegExp) {
    wanted.lastIndex = 0
    return wanted.test(whole)
  }
  if (wanted.includes('?')) return whole.startsWith(wanted)
  return path === wanted || path.startsWith(wanted.endsWith('/') ? wanted : `${wanted}/`)
}
