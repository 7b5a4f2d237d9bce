import type { WebhookOptions } from '../webhooks/webhook-options.ts'
import type { OptionFacts } from './option-values.ts'

/** The options of webhooks by name, in the order in which `--help` shows them. */
export const webhookOptionFacts: Readonly<Record<keyof WebhookOptions, OptionFacts>> = {
  eventShape: {
    text: 'body of an event: the record, or an envelope with `changeType` and `data`',
    takes: ['record', 'envelope'],
  },
  deleteEvent: {
    text: 'body of the event of a deletion, whatever the shape of the others: an envelope, its `data` alone (`changeVersion` and `id`), the last record with the status Deleted, or no event',
    takes: ['envelope', 'bare', 'record', 'none'],
  },
  assignmentLevels: {
    text: '`activityLevels` in the event of an assignment: an array, or the first of them alone',
    takes: ['array', 'object'],
  },
  fanOut: {
    text: 'a command that changes a clocking recalculates the totals of its day, as `/changes` does, so that it raises events of both collections',
    takes: 'switch',
  },
  webhookDays: { text: 'days from the creation of a webhook to its `validUntil`', takes: 'size' },
  validUntil: {
    text: 'form of `validUntil`: with Z, with +02:00, or with +02:00 and 7 digits of a second',
    takes: ['utc', 'offset', 'seven-digits'],
  },
  uninitializedMinutes: {
    text: 'minutes during which a new webhook is Uninitialized and has no events',
    takes: 'count',
  },
  webhookKeyName: { text: 'name of the private key in the answer to a creation', takes: 'text' },
  createdStatus: { text: 'status of the creation of a webhook', takes: ['201', '200'] },
  createdBody: {
    text: 'body of the answer to a creation: all properties, or the key and `validUntil` alone',
    takes: ['whole', 'key'],
  },
  createdLocation: {
    text: 'header `Location` of the answer to a creation, whatever it is elsewhere',
    takes: ['relative', 'absolute', 'none'],
  },
  sameWebhook: {
    text: 'a second webhook for the same collection and destination: allowed, or a 409',
    takes: ['allowed', 'conflict'],
  },
  assignmentsWebhook: {
    text: 'webhooks for `assignments`, which only one of the documents lists',
    takes: ['offered', 'refused'],
  },
  reenableWebhooks: {
    text: 'a POST with the collection and the destination of a Disabled webhook enables that one, with a new key',
    takes: 'switch',
  },
  expiredWebhook: {
    text: 'status of an expired webhook: Disabled, or what it was',
    takes: ['disabled', 'unchanged'],
  },
  deleteStatus: { text: 'status of the DELETE of a webhook', takes: ['204', '200'] },
  secondDelete: {
    text: 'a second DELETE of a webhook: a 404, or a success like the first',
    takes: ['404', 'success'],
  },
  deletedWebhook: {
    text: 'a deleted webhook: 404 and not in the list, readable by its id with `isDeleted`, or listed too',
    takes: ['hidden', 'readable', 'listed'],
  },
  successCodes: { text: 'statuses of a receiver that count as success', takes: ['2xx', '200'] },
  retriedBody: {
    text: 'body of a retry: the record as it was at the change, or as it is at the retry',
    takes: ['snapshot', 'present'],
  },
  eventOrder: {
    text: 'newer events of a webhook while an older one waits for a retry: delivered, or held back',
    takes: ['free', 'held'],
  },
  deliveryTimeoutMs: { text: 'real milliseconds that a receiver has to answer', takes: 'size' },
  deliveryConnections: { text: 'deliveries under way at once', takes: 'size' },
  deliverTo: {
    text: 'a loopback address to which destinations elsewhere are delivered, as by a proxy in front of a receiver; without one they are never sent',
    takes: 'loopback',
  },
}
