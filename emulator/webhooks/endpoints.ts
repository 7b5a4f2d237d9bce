import { setTimeout as sleep } from 'node:timers/promises'
import { checkScope, checkToken } from '../auth/tokens.ts'
import { collections } from '../collections/collections.ts'
import { type BodyError, bodyNotValid, leftBy, readBody, takePage } from '../endpoints/bodies.ts'
import type { Route, Service } from '../endpoints/service.ts'
import { checkFilter, everything, parseFilter } from '../filter/check.ts'
import { json, ServiceError, type ServiceRequest, type ServiceResponse } from '../http/messages.ts'
import { parsePairs } from '../references/references.ts'
import { destinationFault } from './delivery.ts'
import {
  fieldsOfWebhook,
  type NewWebhook,
  recordOfWebhook,
  validUntilText,
  type Webhook,
} from './webhooks.ts'

/**
 * The collections that webhooks can be created for, with the same external references as their
 * deltas. `assignments` is in the documentation; the specification has it apart.
 */
const webhookCollections: readonly string[] = [
  'absences',
  'absence-definitions',
  'absence-groups',
  'access-clockings',
  'activity-durations',
  'assignments',
  'break-definitions',
  'breaks',
  'calculated-totals',
  'clockings',
  'contracts',
  'counters',
  'counter-definitions',
  'counter-groups',
  'paid-presences',
  'people',
  'shift-definitions',
  'work-interruptions',
]

/**
 * Handles `POST /webhooks`. The client also needs the scope to read the collection. The key is only in this
 * answer.
 */
function createWebhook(service: Service, request: ServiceRequest): ServiceResponse {
  const { webhooks, options, tokens } = service
  const wanted = readWanted(request)
  checkScope(options, checkToken(tokens, request), wanted.collection, ['read'])
  const { webhookLimit: most } = options
  const isOfIt = (one: Webhook) => !one.isDeleted && one.collection === wanted.collection
  if (most > 0 && webhooks.list().filter(isOfIt).length >= most) {
    throw new ServiceError(409, `There may be ${most} webhooks of ${wanted.collection}`)
  }
  return answer(service, webhooks.create(wanted))
}

function readWanted(request: ServiceRequest): NewWebhook {
  const body = readBody(request)
  const { destinationUrl: destination, collectionName: collection } = body
  const errors = [
    bodyError('destinationUrl', destination, destinationFault),
    bodyError('collectionName', collection, (name) =>
      webhookCollections.includes(name) ? undefined : 'is no collection with webhooks',
    ),
  ].filter((error) => error !== undefined)
  if (errors.length > 0) throw bodyNotValid(errors)
  const name = String(collection)
  const allowed = collections[name]?.references.delta ?? []
  const pairs = parsePairs(request.parameters.get('externalReferences'), allowed)
  return { collection: name, destination: String(destination), pairs }
}

function bodyError(
  property: string,
  value: unknown,
  faultOf: (text: string) => string | undefined,
): BodyError | undefined {
  const message = typeof value === 'string' ? faultOf(value) : 'is required, as a text'
  return message === undefined ? undefined : { property, message }
}

function answer(service: Service, webhook: Webhook): ServiceResponse {
  const { webhooks, options } = service
  const isWhole = options.createdBody === 'whole'
  const body = JSON.stringify({
    ...(isWhole && fieldsOfWebhook(webhook, webhooks, options)),
    validUntil: validUntilText(webhook, options),
    [options.webhookKeyName]: webhook.key,
  })
  const created = json(body, 201)
  const location = service.links.location(`/webhooks/${webhook.id}`)
  const early = service.deliveryFaults.ofCreation(webhook.collection)
  return {
    ...created,
    headers: { ...created.headers, location },
    body: early ? afterDelivery(service, webhook, body, early.options.ms) : body,
  }
}

/** The body, after a delivery was answered, or `ms` have passed without an answer to it. */
async function* afterDelivery(
  { deliveries }: Service,
  webhook: Webhook,
  body: string,
  ms = 1000,
): AsyncIterable<Buffer> {
  await Promise.race([deliveries.sendFirst(webhook), sleep(ms)])
  yield Buffer.from(body)
}

/**
 * Handles `GET /webhooks`: those that are not deleted, unless `deletedWebhook` lists them too. The
 * specification writes `NextLink`, null at the end; the documentation `nextLink`, absent at the end.
 */
function listWebhooks(service: Service, request: ServiceRequest): ServiceResponse {
  const { webhooks, options, continuations } = service
  const { path, parameters } = request
  const filterText = parameters.get('filter')
  const filter =
    filterText === undefined
      ? everything
      : checkFilter(parseFilter(filterText), ['collection-name', 'status'], service.personGroups)
  const list = `${path} ${filterText ?? ''}`
  const token = parameters.get('continuationToken')
  const after = token === undefined ? undefined : String(continuations.read(list, token, 400))
  const isListed = ['listed', 'disabled'].includes(options.deletedWebhook)
  const records = webhooks
    .list()
    .filter(({ isDeleted }) => !isDeleted || isListed)
    .map((webhook) => recordOfWebhook(webhook, webhooks, options))
  const start = after === undefined ? 0 : records.filter(({ id }) => id <= after).length
  const { positions, more } = takePage(records, { start, size: options.pageSize }, filter.matches)
  const page = positions.flatMap((position) => records[position] ?? [])
  const next = () =>
    service.links.to(path, [
      ['filter', filterText],
      ['continuationToken', continuations.give(list, page.at(-1)?.id ?? '')],
    ])
  const value = leftBy(request.listFault, page).map(({ text }) => JSON.parse(text))
  const link = more && request.listFault?.kind !== 'empty' ? next() : undefined
  const links =
    options.dialect === 'specification' ? { NextLink: link ?? null } : { nextLink: link }
  return json(JSON.stringify({ value, ...links }))
}

/** The routes `/webhooks` and `/webhooks/{id}`. Nothing changes a webhook: there is no PUT. */
export function webhookRoute(
  service: Service,
  request: ServiceRequest,
  [id, ...beyond]: readonly string[],
): Route | undefined {
  if (beyond.length > 0) return undefined
  const collection = 'webhooks'
  if (id === undefined) {
    const GET = () => listWebhooks(service, request)
    return { collection, methods: { GET, POST: () => createWebhook(service, request) } }
  }
  const GET = () => getWebhook(service, id)
  return { collection, methods: { GET, DELETE: () => deleteWebhook(service, id) } }
}

function getWebhook({ webhooks, options }: Service, id: string): ServiceResponse {
  const webhook = webhooks.list().find((one) => one.id === id)
  if (!webhook || (webhook.isDeleted && options.deletedWebhook === 'hidden')) throw missing(id)
  return json(JSON.stringify(fieldsOfWebhook(webhook, webhooks, options)))
}

function deleteWebhook({ webhooks, deliveries, options }: Service, id: string): ServiceResponse {
  const webhook = webhooks.list().find((one) => one.id === id)
  if (!webhook || (webhook.isDeleted && options.deletedWebhook !== 'disabled')) throw missing(id)
  webhooks.remove(webhook)
  deliveries.purge()
  return { status: 204, body: '' }
}

function missing(id: string): ServiceError {
  return new ServiceError(404, `There is no webhook ${id}`)
}
