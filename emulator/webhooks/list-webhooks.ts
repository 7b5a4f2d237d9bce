import { takePage } from '../endpoints/page.ts'
import type { Service } from '../endpoints/service.ts'
import { checkFilter, everything } from '../filter/check.ts'
import { parseFilter } from '../filter/parse.ts'
import { json, type ServiceRequest, type ServiceResponse } from '../http/http-types.ts'
import { recordOfWebhook } from './webhook-text.ts'

/**
 * Handles `GET /webhooks`: those that are not deleted, unless `deletedWebhook` lists them too. The
 * specification writes `NextLink`, null at the end; the documentation `nextLink`, absent at the end.
 */
export function listWebhooks(service: Service, request: ServiceRequest): ServiceResponse {
  const { webhooks, options, continuations } = service
  const { path, parameters } = request
  const filterText = parameters.get('filter')
  const filter =
    filterText === undefined
      ? everything
      : checkFilter(parseFilter(filterText), ['collection-name', 'status'], service.personGroups)
  const list = `${path} ${filterText ?? ''}`
  const token = parameters.get('continuationToken')
  const after = token === undefined ? undefined : continuations.read(list, token, 400)
  const records = webhooks
    .list()
    .filter(({ isDeleted }) => !isDeleted || options.deletedWebhook === 'listed')
    .map((webhook) => recordOfWebhook(webhook, webhooks, options))
  const start = after === undefined ? 0 : records.filter(({ id }) => id <= after).length
  const { positions, more } = takePage(records, start, options.pageSize, filter.matches)
  const page = positions.flatMap((position) => records[position] ?? [])
  const next = () =>
    service.links.to(path, [
      ['filter', filterText],
      ['continuationToken', continuations.give(list, page.at(-1)?.id ?? '')],
    ])
  const value = page.map(({ text }) => JSON.parse(text))
  const link = more ? next() : undefined
  const links =
    options.dialect === 'specification' ? { NextLink: link ?? null } : { nextLink: link }
  return json(JSON.stringify({ value, ...links }))
}
