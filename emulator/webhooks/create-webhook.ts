import { setTimeout as sleep } from 'node:timers/promises'
import { checkScope, checkToken } from '../auth/access.ts'
import { collections } from '../collections/collections.ts'
import type { Service } from '../endpoints/service.ts'
import { json, type ServiceRequest, type ServiceResponse } from '../http/http-types.ts'
import { ServiceError } from '../http/service-error.ts'
import { parsePairs } from '../references/reference-pairs.ts'
import { type BodyError, bodyNotValid, readBody } from '../writes/read-body.ts'
import { destinationFault } from './destination.ts'
import { webhookCollections } from './webhook-collections.ts'
import { fieldsOfWebhook, validUntilText } from './webhook-text.ts'
import { isFor, type NewWebhook, type Webhook } from './webhooks.ts'

/**
 * Handles `POST /webhooks`. The client needs the scope for reading the collection too. The key is in
 * this answer and in no other.
 */
export function createWebhook(service: Service, request: ServiceRequest): ServiceResponse {
  const { webhooks, options, tokens } = service
  const wanted = readWanted(service, request)
  checkScope(options, checkToken(tokens, request), wanted.collection, ['read'])
  const isTaken = webhooks.list().some((one) => isFor(one, wanted) && webhooks.isLive(one))
  if (isTaken && options.sameWebhook === 'conflict') {
    throw new ServiceError(409, 'There is a webhook for this collection and destination')
  }
  return answer(service, webhooks.create(wanted))
}

function readWanted({ options }: Service, request: ServiceRequest): NewWebhook {
  const body = readBody(request, options)
  const { destinationUrl: destination, collectionName: collection } = body
  const errors = [
    bodyError('destinationUrl', destination, destinationFault),
    bodyError('collectionName', collection, (name) =>
      offered(name, options.assignmentsWebhook) ? undefined : 'is no collection with webhooks',
    ),
  ].filter((error) => error !== undefined)
  if (errors.length > 0) throw bodyNotValid(errors, options)
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

function offered(collection: string, assignments: 'offered' | 'refused'): boolean {
  if (collection === 'assignments' && assignments === 'refused') return false
  return webhookCollections.includes(collection)
}

function answer(service: Service, webhook: Webhook): ServiceResponse {
  const { webhooks, options } = service
  const isWhole = options.createdBody === 'whole'
  const body = JSON.stringify({
    ...(isWhole && fieldsOfWebhook(webhook, webhooks, options)),
    validUntil: validUntilText(webhook, options),
    [options.webhookKeyName]: webhook.key,
  })
  const created = json(body, Number(options.createdStatus))
  const location = locationOf(service, webhook)
  const early = service.deliveryFaults.ofCreation(webhook.collection)
  return {
    ...created,
    headers: { ...created.headers, ...(location !== undefined && { location }) },
    body: early ? afterDelivery(service, webhook, body, early.options.ms) : body,
  }
}

function locationOf({ options, links, url }: Service, { id }: Webhook): string | undefined {
  if (options.createdLocation === 'none') return undefined
  const origin = options.createdLocation === 'absolute' ? url() : ''
  return `${origin}${links.prefix}/webhooks/${id}`
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
