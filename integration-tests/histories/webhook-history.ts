import fc from 'fast-check'
import type { EmulatorOptions } from '../../emulator/emulator.ts'
import type { DeliveryFaultKind } from '../../emulator/webhooks/delivery.ts'
import { webhookCollections } from '../../src/client/service-client.ts'
import { events, type Focus, inserts, oddMembers } from './arbitrary-events.ts'
import type { Change, Event } from './history.ts'

/** Something that happens to a tenant, to its webhooks, or to those who follow them. */
export type WebhookStep =
  | Event
  /** The service's time passes; what is due is delivered meanwhile. */
  | { readonly do: 'elapse'; readonly hours: number }
  | { readonly do: 'deliveries'; readonly fault: DeliveryFaultKind; readonly share: number }
  | { readonly do: 'deliver-well' }
  | {
      readonly do: 'end-webhook'
      readonly how: 'disable' | 'expire' | 'delete'
      readonly stream: number
    }
  /** Somebody cancels the next sync of the receiver before it has read anything. */
  | { readonly do: 'cancel-sync' }
  /** A proxy sends the next creation of a webhook twice. */
  | { readonly do: 'repeat-creation' }
  /** The next webhook is made, and answered by a status that says that it was not. */
  | { readonly do: 'deny-creation'; readonly status: number }
  /** The service refuses the next request for its webhooks, also the first one of a start. */
  | { readonly do: 'refuse-list'; readonly status: number }
  /** The next list of webhooks has a form that nobody knows. */
  | { readonly do: 'garble-list'; readonly body: string }
  /** Somebody removes the store of the running receiver. */
  | { readonly do: 'remove-store' }
  /** Somebody uses the store with the configuration of another tenant. */
  | { readonly do: 'mistake-tenant' }
  /** The next sync dies after so many lines. */
  | { readonly do: 'kill-sync'; readonly afterLines: number }
  /** The receiver dies, with the notifications that it knows; it starts again after these events, perhaps at another public URL. */
  | {
      readonly do: 'kill-receiver'
      readonly meanwhile: readonly Event[]
      readonly isMoved: boolean
    }
  /** A sync of the schedule, beside those of the receiver. */
  | { readonly do: 'scheduled-sync' }
  /** Until every notification is synced. */
  | { readonly do: 'wait' }

export interface WebhookHistory {
  readonly options: EmulatorOptions
  /** Of all streams with webhooks; the others would only take time. */
  readonly collections: readonly string[]
  readonly seeded: readonly Change[]
  readonly steps: readonly WebhookStep[]
}

/** Days inside the window that deltas cover: what is outside has no events that a delta tells of. */
const focus: Focus = {
  stream: fc.nat(2),
  pick: fc.nat(3),
  day: fc.constantFrom(-2, -30, -100),
  disruption: 0,
  odd: oddMembers,
}

/** A delivery of more than 1 MiB is refused, and holds the newer ones back where the service keeps their order. */
const isDeliverable = (change: Change) => change.kind !== 'insert' || change.size !== 'large'
const event = events(focus).filter((one) => one.do !== 'change' || isDeliverable(one.change))

const options: fc.Arbitrary<EmulatorOptions> = fc.record({
  seed: fc.integer({ min: 1, max: 1000 }),
  dialect: fc.constantFrom('documentation', 'documentation', 'documentation', 'specification'),
  people: fc.constantFrom(0, 2),
  months: fc.constant(0),
  pageSize: fc.constantFrom(1, 2, 100),
  netDelta: fc.boolean(),
  webhookKeyName: fc.constantFrom('key', 'webhookKey', 'privateKey', 'secret'),
  createdBody: fc.constantFrom('key', 'whole'),
  location: fc.constantFrom('relative', 'absolute'),
  eventShape: fc.constantFrom('record', 'envelope'),
  deleteEvent: fc.constantFrom('envelope', 'bare', 'record', 'none'),
  webhookDays: fc.constantFrom(1, 2, 30),
  deletedWebhook: fc.constantFrom('hidden', 'readable', 'listed', 'disabled'),
  webhookLimit: fc.constantFrom(0, 0, 1),
  expiredWebhook: fc.constantFrom('disabled', 'unchanged'),
  retriedBody: fc.constantFrom('snapshot', 'present'),
  eventOrder: fc.constantFrom('free', 'held'),
})

const step: fc.Arbitrary<WebhookStep> = fc.oneof(
  { weight: 12, arbitrary: event },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('elapse' as const),
      hours: fc.constantFrom(1, 1, 5, 20, 80),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('deliveries' as const),
      fault: fc.constantFrom<DeliveryFaultKind>(
        'lose',
        'duplicate',
        'delay',
        'tamper',
        'wrong-key',
        'unsigned',
      ),
      share: fc.constantFrom(0.2, 1),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ do: 'deliver-well' as const }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('end-webhook' as const),
      how: fc.constantFrom('disable', 'expire', 'delete'),
      stream: fc.nat(2),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('kill-sync' as const),
      afterLines: fc.integer({ min: 1, max: 40 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('kill-receiver' as const),
      meanwhile: fc.array(event, { maxLength: 3 }),
      isMoved: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ do: 'cancel-sync' as const }) },
  { weight: 1, arbitrary: fc.constant({ do: 'repeat-creation' as const }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('deny-creation' as const),
      status: fc.constantFrom(302, 307, 400, 401, 403, 409, 422, 500),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('refuse-list' as const),
      status: fc.constantFrom(401, 403, 404),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('garble-list' as const),
      body: fc.constantFrom(
        '{}',
        '{"items":[]}',
        '{"error":{"code":"Busy"}}',
        '{"value":{}}',
        'null',
      ),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ do: 'remove-store' as const }) },
  { weight: 1, arbitrary: fc.constant({ do: 'mistake-tenant' as const }) },
  { weight: 1, arbitrary: fc.constant({ do: 'scheduled-sync' as const }) },
  { weight: 3, arbitrary: fc.constant({ do: 'wait' as const }) },
)

/** The only collections with webhooks that the specification has an endpoint to read. */
const specified = ['access-clockings', 'shift-definitions']

/** Histories of deliveries, renewals, kills and syncs. */
export const webhookHistories: fc.Arbitrary<WebhookHistory> = fc
  .record({
    options,
    documented: fc.subarray([...webhookCollections], { minLength: 3, maxLength: 3 }),
    seeded: fc.array(inserts(focus).filter(isDeliverable), { minLength: 1, maxLength: 5 }),
    steps: fc.array(step, { minLength: 3, maxLength: 20 }),
  })
  .map(({ documented, ...history }) => ({
    ...history,
    collections: history.options.dialect === 'specification' ? specified : documented,
  }))
