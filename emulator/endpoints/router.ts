import { checkToken, discovery } from '../auth/tokens.ts'
import { collections, offers } from '../collections/collections.ts'
import { structureLevels, structureVersion } from '../generate/reference-data.ts'
import {
  decode,
  notAllowed,
  ServiceError,
  type ServiceRequest,
  type ServiceResponse,
} from '../http/messages.ts'
import type { StoredRecord } from '../store/store.ts'
import { webhookRoute } from '../webhooks/endpoints.ts'
import { handleDeltaLink, handleList } from './handle-list.ts'
import {
  createWorkLocation,
  handleGetById,
  handlePersonHistory,
  putJobCategory,
  type RecordQuery,
} from './records.ts'
import { referenceRoute } from './references.ts'
import { createLinks, handleByMethod, type Route, type Service } from './service.ts'

const longestUrl = 4096

/** Handles a request to either host of the service; throws a `ServiceError` to refuse it. */
export function handleRequest(everywhere: Service, request: ServiceRequest): ServiceResponse {
  const service = reachedBy(everywhere, request)
  if (service.url().length + request.target.length > longestUrl) {
    throw new ServiceError(414, `The URL is longer than ${longestUrl} characters`)
  }
  if (request.host === 'authentication') return authenticate(service, request)
  if (request.host === undefined) throw new ServiceError(404, 'There is nothing at this path')
  if (!request.headers['user-agent'])
    throw new ServiceError(400, 'The header User-Agent is required')
  const grant = checkToken(service.tokens, request)
  const route = routeOf(service, request)
  if (!route) throw new ServiceError(404, `There is nothing at ${request.path}`)
  return handleByMethod(route, request, grant, service.options)
}

/** The service as seen from one request: its links have the host that the request names. */
function reachedBy(service: Service, { headers: { host } }: ServiceRequest): Service {
  if (host === undefined) return service
  const url = () => `http://${host}`
  return { ...service, url, links: createLinks(service.options, url) }
}

function checkMethod({ method }: ServiceRequest, allowed: readonly string[]): void {
  if (!allowed.includes(method)) throw notAllowed(method, allowed)
}

function authenticate(service: Service, request: ServiceRequest): ServiceResponse {
  if (request.path === '/connect/token') {
    checkMethod(request, ['POST'])
    return service.tokens.handle(request)
  }
  if (
    request.path !== '/.well-known/openid-configuration' ||
    request.tenant !== service.options.tenant
  ) {
    throw new ServiceError(404, 'There is nothing at this path')
  }
  checkMethod(request, ['GET', 'HEAD'])
  return discovery(`${service.url()}/tenants/${service.options.tenant}`, service.options)
}

function routeOf(service: Service, request: ServiceRequest): Route | undefined {
  const parts = request.path.slice(1).split('/')
  // Servers resolve unencoded dots, which would change the path.
  if (parts.some((part) => ['', '.', '..'].includes(part))) return undefined
  const [first = '', ...rest] = parts.map(decode)
  if (first === 'external-references') return referenceRoute(service, request, rest)
  if (first === 'webhooks') return webhookRoute(service, request, rest)
  if (first === 'activity-structure-versions') return activityRoute(service, request, rest)
  if (first === 'delta' && rest.length === 1) return deltaRoute(service, request, rest[0] ?? '')
  if (first === 'people' && rest.length === 2) return historyRoute(service, request, rest)
  if (!(first in collections) || first === 'activity-definitions') return undefined
  if (rest.length === 0) return listRoute(service, request, first)
  if (rest.length > 1) return undefined
  return singleRoute(service, { request, collection: first, reference: rest[0] ?? '' })
}

function singleRoute(service: Service, query: RecordQuery): Route {
  const { request, collection, reference } = query
  const GET = () => handleGetById(service, query)
  if (collection !== 'job-categories') return { collection, methods: { GET } }
  return { collection, methods: { GET, PUT: () => putJobCategory(service, request, reference) } }
}

function listRoute(
  service: Service,
  request: ServiceRequest,
  collection: string,
): Route | undefined {
  const { dialect } = service.options
  const known = offers(dialect, 'list', collection) || offers(dialect, 'delta', collection)
  if (!known) return undefined
  const GET = (client: string) => handleList(service, { request, client, collection })
  if (collection !== 'work-locations') return { collection, methods: { GET } }
  return { collection, methods: { GET, POST: () => createWorkLocation(service, request) } }
}

function deltaRoute(
  service: Service,
  request: ServiceRequest,
  collection: string,
): Route | undefined {
  if (!offers(service.options.dialect, 'delta', collection)) return undefined
  const GET = (client: string) => handleDeltaLink(service, { request, client, collection })
  return { collection, methods: { GET } }
}

function historyRoute(
  service: Service,
  request: ServiceRequest,
  [reference = '', last = '']: string[],
): Route | undefined {
  const collection = last.replace(/-history$/, '-histories')
  const known = last.endsWith('-history') && offers(service.options.dialect, 'list', collection)
  if (!known) return undefined
  const GET = () => handlePersonHistory(service, { request, collection, reference })
  return { collection, methods: { GET } }
}

function activityRoute(
  service: Service,
  request: ServiceRequest,
  parts: readonly string[],
): Route | undefined {
  const [version, levels, level, collection, reference, ...beyond] = parts
  const known = levels === 'levels' && collection === 'activity-definitions' && beyond.length === 0
  if (!known || service.options.dialect === 'specification') return undefined
  if (version !== structureVersion || !structureLevels.includes(Number(level))) return undefined
  const within = ({ text }: StoredRecord) => {
    const record = JSON.parse(text)
    return record.structureVersion === version && String(record.level) === level
  }
  const GET = (client: string) =>
    reference === undefined
      ? handleList(service, { request, client, collection, within })
      : handleGetById(service, { request, collection, reference, within })
  return { collection, methods: { GET } }
}
