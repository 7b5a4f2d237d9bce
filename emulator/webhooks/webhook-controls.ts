import type { Span } from '../clock.ts'
import type { Service } from '../endpoints/service.ts'
import type { Fields } from '../store/store.ts'
import { type DeliveryFaultKind, type DeliveryFaultOptions, deliveryView } from './delivery.ts'
import { fieldsOfWebhook, type Webhook } from './webhooks.ts'

/** Which webhooks are meant: one, those of a collection, or all. */
export interface WebhookChoice {
  readonly id?: string
  readonly collection?: string
}

/** What can be done to webhooks and seen of them. */
export interface WebhookControls {
  /**
   * Lets virtual time pass as `advance` does, but stops at each moment at which a delivery is due.
   * Resolves when all that became due was attempted.
   */
  elapse(by: Span): Promise<void>
  /** Lets deliveries go wrong; `clearFaults` ends it. */
  deliveryFault(kind: DeliveryFaultKind, options?: DeliveryFaultOptions): void
  /** Gives webhooks the status Disabled and drops what waits for them. */
  disableWebhooks(choice?: WebhookChoice): void
  /** Ends the validity of webhooks now and drops what waits for them. */
  expireWebhooks(choice?: WebhookChoice): void
  /** Every webhook since the start with its key, deleted ones too. */
  webhooks(): Fields[]
  /** Every delivery since the start with its attempts, and when the next one is due. */
  deliveries(): ReturnType<typeof deliveryView>[]
}

/** Makes the controls. */
export function createWebhookControls(service: Service): WebhookControls {
  const { webhooks, deliveries, deliveryFaults, options } = service
  const end = (how: (webhook: Webhook) => void, choice: WebhookChoice = {}) => {
    for (const webhook of webhooks.list()) {
      const { id = webhook.id, collection = webhook.collection } = choice
      if (webhook.id === id && webhook.collection === collection) how(webhook)
    }
    deliveries.purge()
  }
  return {
    elapse: deliveries.elapse,
    deliveryFault: deliveryFaults.add,
    disableWebhooks: (choice) => end(webhooks.disable, choice),
    expireWebhooks: (choice) => end(webhooks.expire, choice),
    webhooks: () =>
      webhooks.list().map((webhook) => ({
        ...fieldsOfWebhook(webhook, webhooks, options),
        key: webhook.key,
        ...(webhook.isDeleted && { isDeleted: true }),
      })),
    deliveries: () => deliveries.all.map(deliveryView),
  }
}
