// The exports of `source-protime/webhooks`: they need the Fetch API and WebCrypto, and nothing from Node.

export type { WebhookCollection } from '../client/service-client.ts'
export {
  createHandler,
  type Handler,
  type HandlerOptions,
  type Refusal,
} from './receive/create-handler.ts'
export type { RefusalReason } from './receive/delivery.ts'
export { sign, VerificationError, type VerificationReason, verify } from './receive/delivery.ts'
export {
  createNewest,
  type EventVersion,
  type Newest,
  type WebhookEvent,
  type WebhookEventOf,
} from './receive/event.ts'
export { toNode } from './receive/node-http.ts'
