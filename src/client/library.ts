// What others import as `source-protime/client`; everything else is no interface.

export { ConnectorError, type FailureType } from '../ground/errors.ts'
export { ClientError } from './client-error.ts'
export { type ConnectOptions, connect } from './create-service-client.ts'
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
