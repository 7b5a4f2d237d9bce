import { checkAccess } from './access.ts'
import { collections } from './collections.ts'
import { answerDelta } from './delta-answer.ts'
import { offers } from './dialect.ts'
import type { Answer, ServiceRequest } from './exchange.ts'
import { structureLevels, structureVersion } from './generate/catalogues.ts'
import { answerList } from './lists.ts'
import { decode } from './parameters.ts'
import { answerReferences } from './reference-answers.ts'
import type { Service } from './service.ts'
import { ServiceError } from './service-error.ts'
import { answerHistory, answerSingle } from './singles.ts'
import type { StoredRecord } from './store.ts'
import { discovery } from './tokens.ts'

const longestUrl = 4096

interface Route {
  /** The collection whose scope is needed. */
  readonly collection: string
  answer(client: string): Answer
}

/** Answers a request to either host of the service; refusals are thrown as `ServiceError`. */
export function answerRequest(service: Service, request: ServiceRequest): Answer {
  if (request.host === 'authentication') return authenticate(service, request)
  if (request.host === undefined) throw new ServiceError(404, 'There is nothing at this path')
  const query = request.query === '' ? '' : `?${request.query}`
  if (
    service.url().length + service.links.prefix.length + request.path.length + query.length >
    longestUrl
  ) {
    throw new ServiceError(414, `The URL is longer than ${longestUrl} characters`)
  }
  if (!request.headers['user-agent'])
    throw new ServiceError(400, 'The header User-Agent is required')
  const route = routeOf(service, request)
  if (!route) throw new ServiceError(404, `There is nothing at ${request.path}`)
  if (request.method !== 'GET')
    throw new ServiceError(405, `${request.method} is not supported here`)
  return route.answer(checkAccess(service, request, route.collection))
}

function authenticate(service: Service, request: ServiceRequest): Answer {
  if (request.path === '/.well-known/openid-configuration') {
    return discovery(`${service.url()}/tenants/${request.tenant}`, service.options)
  }
  if (request.path !== '/connect/token')
    throw new ServiceError(404, 'There is nothing at this path')
  if (request.method !== 'POST') throw new ServiceError(405, 'A token is asked for with POST')
  return service.tokens.answer(request)
}

function routeOf(service: Service, request: ServiceRequest): Route | undefined {
  const [first = '', ...rest] = request.path.slice(1).split('/').map(decode)
  if (first === 'external-references' && rest.length >= 1 && rest.length <= 3) {
    return { collection: first, answer: () => answerReferences(service, request, rest) }
  }
  if (first === 'activity-structure-versions') return activityRoute(service, request, rest)
  if (first === 'delta' && rest.length === 1) return deltaRoute(service, request, rest[0] ?? '')
  if (first === 'people' && rest.length === 2) return historyRoute(service, request, rest)
  if (!(first in collections) || first === 'activity-definitions') return undefined
  if (rest.length === 0) return listRoute(service, request, first)
  if (rest.length > 1) return undefined
  const wish = { request, collection: first, reference: rest[0] ?? '' }
  return { collection: first, answer: () => answerSingle(service, wish) }
}

function listRoute(
  service: Service,
  request: ServiceRequest,
  collection: string,
): Route | undefined {
  const { dialect } = service.options
  const known = offers(dialect, 'list', collection) || offers(dialect, 'delta', collection)
  if (!known) return undefined
  return { collection, answer: (client) => answerList(service, { request, client, collection }) }
}

function deltaRoute(service: Service, request: ServiceRequest, collection: string) {
  if (!offers(service.options.dialect, 'delta', collection)) return undefined
  return { collection, answer: () => answerDelta(service, request, collection) }
}

function historyRoute(
  service: Service,
  request: ServiceRequest,
  [reference = '', last = '']: string[],
) {
  const collection = last.replace(/-history$/, '-histories')
  const known = last.endsWith('-history') && offers(service.options.dialect, 'list', collection)
  if (!known) return undefined
  return { collection, answer: () => answerHistory(service, { request, collection, reference }) }
}

function activityRoute(service: Service, request: ServiceRequest, parts: readonly string[]) {
  const [version, levels, level, collection, reference, ...beyond] = parts
  const known = levels === 'levels' && collection === 'activity-definitions' && beyond.length === 0
  if (!known || service.options.dialect === 'specification') return undefined
  if (version !== structureVersion || !structureLevels.includes(Number(level))) return undefined
  const within = ({ text }: StoredRecord) => {
    const record = JSON.parse(text)
    return record.structureVersion === version && String(record.level) === level
  }
  const answer = (client: string) =>
    reference === undefined
      ? answerList(service, { request, client, collection, within })
      : answerSingle(service, { request, collection, reference, within })
  return { collection, answer }
}
