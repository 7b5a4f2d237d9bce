// The exports of `source-protime/client`; everything else is internal.

export type { ReferenceChoice } from '../config/config.ts'
export { ConnectorError, type FailureType } from '../ground/errors.ts'
export type { ExternalReference } from '../page/reference-page.ts'
export { ClientError, type ClientErrorFacts } from './client-error.ts'
export { type ConnectOptions, connect, type Scope } from './create-service-client.ts'
export type {
  CallOptions,
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
  WebhookCollection,
  WebhookFilter,
  WebhookRequest,
  Webhooks,
  WorkLocation,
  WorkLocationBody,
  WorkLocations,
} from './service-client.ts'
