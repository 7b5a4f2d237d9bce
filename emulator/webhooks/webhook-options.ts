/**
 * How webhooks behave where the documents of the service leave that open. `webhookOptionFacts` says
 * what each option means, `defaultWebhookOptions` has the defaults.
 */
export interface WebhookOptions {
  eventShape?: 'record' | 'envelope'
  deleteEvent?: 'envelope' | 'bare' | 'record' | 'none'
  assignmentLevels?: 'array' | 'object'
  fanOut?: boolean
  webhookDays?: number
  validUntil?: 'utc' | 'offset' | 'seven-digits'
  uninitializedMinutes?: number
  webhookKeyName?: string
  createdStatus?: '201' | '200'
  createdBody?: 'whole' | 'key'
  createdLocation?: 'relative' | 'absolute' | 'none'
  sameWebhook?: 'allowed' | 'conflict'
  assignmentsWebhook?: 'offered' | 'refused'
  reenableWebhooks?: boolean
  expiredWebhook?: 'disabled' | 'unchanged'
  deleteStatus?: '204' | '200'
  secondDelete?: '404' | 'success'
  deletedWebhook?: 'hidden' | 'readable' | 'listed'
  successCodes?: '2xx' | '200'
  retriedBody?: 'snapshot' | 'present'
  eventOrder?: 'free' | 'held'
  deliveryTimeoutMs?: number
  deliveryConnections?: number
  deliverTo?: string | undefined
}

/** The defaults of a dialect. */
export function defaultWebhookOptions(
  dialect: 'documentation' | 'specification',
): Required<WebhookOptions> {
  const documented = dialect === 'documentation'
  return {
    eventShape: documented ? 'envelope' : 'record',
    deleteEvent: documented ? 'envelope' : 'bare',
    assignmentLevels: 'array',
    fanOut: false,
    webhookDays: 30,
    validUntil: documented ? 'offset' : 'utc',
    uninitializedMinutes: 0,
    webhookKeyName: 'privateKey',
    createdStatus: '201',
    createdBody: 'whole',
    createdLocation: 'relative',
    sameWebhook: 'allowed',
    assignmentsWebhook: 'offered',
    reenableWebhooks: false,
    expiredWebhook: documented ? 'disabled' : 'unchanged',
    deleteStatus: '204',
    secondDelete: '404',
    deletedWebhook: 'hidden',
    successCodes: '2xx',
    retriedBody: 'snapshot',
    eventOrder: 'free',
    deliveryTimeoutMs: 10_000,
    deliveryConnections: 16,
    deliverTo: undefined,
  }
}
