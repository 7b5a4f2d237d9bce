import type { Route } from '../endpoints/route.ts'
import type { Service } from '../endpoints/service.ts'
import { json, type ServiceRequest, type ServiceResponse } from '../http/http-types.ts'
import { ServiceError } from '../http/service-error.ts'
import { createWebhook } from './create-webhook.ts'
import { listWebhooks } from './list-webhooks.ts'
import { fieldsOfWebhook } from './webhook-text.ts'

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
  if (!webhook || (webhook.isDeleted && options.secondDelete === '404')) throw missing(id)
  webhooks.remove(webhook)
  deliveries.purge()
  return options.deleteStatus === '204' ? { status: 204, body: '' } : json('{}')
}

function missing(id: string): ServiceError {
  return new ServiceError(404, `There is no webhook ${id}`)
}
