// What others import as `source-protime/client`; everything else is no interface.

export { ConnectorError, type FailureType } from '../protocol/errors.ts'
export { ClientError } from './client-error.ts'
export { type ConnectOptions, connect } from './connect.ts'
export type {
  CreatedWebhook,
  JobCategories,
  JobCategory,
  JobCategoryBody,
  RecordKey,
  Reference,
  References,
  Removal,
  ServiceClient,
  TranslatedText,
  Versioned,
  Webhook,
  WebhookFilter,
  WebhookRequest,
  Webhooks,
  WorkLocation,
  WorkLocationBody,
  WorkLocations,
} from './service-client.ts'
