// What others import as `source-protime/webhooks`: it needs nothing but Node.
export {
  createHandler,
  createNewest,
  type Handler,
  type HandlerOptions,
  type Newest,
} from './receive/create-handler.ts'
export type { WebhookEvent } from './receive/delivery.ts'
export { verifyDelivery } from './receive/delivery.ts'
export { toNode } from './receive/to-node.ts'
