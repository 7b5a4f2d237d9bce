import {
  type DeliveryFaultKind,
  type DeliveryFaultOptions,
  deliveryFaultKinds,
} from '../webhooks/delivery-faults.ts'
import type { WebhookChoice } from '../webhooks/webhook-controls.ts'
import type { Argument, Command, View } from './command-types.ts'

const number = (text: string): Argument => ({ takes: 'number', text, isOptional: true })
const collection: Argument = { takes: 'collection', text: 'only those of it', isOptional: true }
const id: Argument = { takes: 'text', text: 'only the webhook with this id', isOptional: true }

/** The commands about webhooks by path. */
export const webhookCommands: Readonly<Record<string, Command>> = {
  '/delivery-fault': {
    text: 'Lets deliveries to webhooks go wrong. An event is not sent (`lose`), sent more than once (`duplicate`), sent later (`delay`), or held until as many as `times` are there, which are then sent one by one from the newest to the oldest (`reorder`). An attempt has another digit in the version of the body than was signed (`tamper`), a signature by another key (`wrong-key`) or with HMAC-SHA512 (`other-scheme`), or none (`unsigned`). The creation of a webhook is answered after an event of its collection was delivered (`early`).',
    takes: {
      kind: { takes: deliveryFaultKinds, text: 'what goes wrong' },
      collection,
      times: number('how often; left out: until `/clear-faults`; `reorder` needs it'),
      skip: number('how many that match pass first'),
      share: number('the share of those that match which are hit, from 0 to 1; default 1'),
      copies: number('how many more copies `duplicate` sends; default 1'),
      minutes: number('how many minutes later `delay` sends; default 1'),
      ms: number(
        'how many real milliseconds `early` waits for the answer to the delivery; default 1000',
      ),
    },
    example: { kind: 'lose', collection: 'clockings', share: 0.05 },
    run: (controls, { kind, ...options }) =>
      controls.deliveryFault(kind as DeliveryFaultKind, options as DeliveryFaultOptions),
  },
  '/disable-webhooks': {
    text: 'Gives webhooks the status Disabled, as failed retries do, and drops what waits for them.',
    takes: { id, collection },
    example: { collection: 'people' },
    run: (controls, given) => controls.disableWebhooks(given as WebhookChoice),
  },
  '/expire-webhooks': {
    text: 'Ends the validity of webhooks now, and drops what waits for them.',
    takes: { id, collection },
    example: { collection: 'people' },
    run: (controls, given) => controls.expireWebhooks(given as WebhookChoice),
  },
}

/** The views of webhooks by name. */
export const webhookViews: Readonly<Record<string, View>> = {
  webhooks: {
    text: 'every webhook since the start with its key, deleted ones too',
    show: (controls) => controls.webhooks(),
  },
  deliveries: {
    text: 'every delivery to a webhook with its status, its attempts, and when the next one is due',
    show: (controls) => controls.deliveries(),
  },
}
