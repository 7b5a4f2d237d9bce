// What others import as `source-protime/webhooks`: it needs nothing but Node.
export { createHandler, type Handler, type HandlerOptions } from './create-handler.ts'
export { createNewest, type Newest } from './create-newest.ts'
export type { WebhookEvent } from './parse-event.ts'
export { toNode } from './to-node.ts'
export { verifyDelivery } from './verify-delivery.ts'
