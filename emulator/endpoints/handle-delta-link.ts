import { type ChangeItem, changesSince } from '../delta/changes-since.ts'
import type { Delta, DeltaPosition } from '../delta/deltas.ts'
import { json, type ServiceResponse } from '../http/http-types.ts'
import { notValid } from '../http/service-error.ts'
import type { ListQuery } from './handle-list.ts'
import { pageBody } from './page.ts'
import type { Service } from './service.ts'

/**
 * Handles a delta link: the changes of one collection since the token was given, and the link for
 * later ones.
 */
export function handleDeltaLink(
  service: Service,
  { request, client, collection }: ListQuery,
): ServiceResponse {
  const { parameters } = request
  for (const name of ['filter', 'externalReferences', 'delta']) {
    if (parameters.has(name)) throw notValid(`${name} is not supported on a delta link`)
  }
  const token = parameters.get('deltaToken')
  if (token === undefined) throw notValid('deltaToken is required')
  const { delta, position } = service.deltas.resume({ client, collection, token, phase: 'changes' })
  service.deltas.markUsed(token)
  const { store, options } = service
  const items = changesSince(store.changes(collection), delta, position, options)
  const size = options.deltaPageSize || items.length
  const taken = items.slice(0, size)
  const texts = taken.map((item) => write(service, delta, item))
  const links = linksAfter(service, delta, position, items.length > size ? taken : undefined)
  return json(pageBody(texts, links, options.dialect))
}

function linksAfter(
  service: Service,
  delta: Delta,
  { cursor, told }: DeltaPosition,
  page: readonly ChangeItem[] | undefined,
) {
  const now = service.store.sequence()
  const after = page?.at(-1)?.sequence ?? cursor
  const position = page
    ? { cursor, after, told: Math.max(told, after) }
    : { cursor: now, after: now, told: now }
  const token = service.deltas.token(delta, 'changes', position)
  const link = service.links.to(`/delta/${delta.collection}`, [['deltaToken', token]])
  return page ? { nextLink: link } : { deltaLink: link }
}

function write({ references, options }: Service, delta: Delta, { type, text }: ChangeItem): string {
  if (type === 'Delete') return `{"changeType":"Delete","data":${text}}`
  const data = references.decorate(delta.collection, text, delta.pairs)
  return options.plainDeltaItems ? data : `{"changeType":"${type}","data":${data}}`
}
