// What others import as `source-protime/protocol`; everything else is no interface.
export { runAirbyte } from './airbyte/cli.ts'
export { runAirbyteDestination } from './airbyte/destination/cli.ts'
export type {
  CheckResult,
  Connector,
  ConnectorFacts,
  Failure,
  Log,
  ReadJob,
  ReadTools,
  Source,
  Tools,
} from './connector.ts'
export type {
  Destination,
  DestinationConnector,
  DestinationSyncMode,
  ObjectSpec,
  RecordOutcome,
  WriteSession,
  WriteTools,
  WrittenRecord,
} from './destination.ts'
export { ConnectorError, type FailureType } from './errors.ts'
export { createJsonBatch, type JsonRecord } from './json-batch.ts'
export type { Mask } from './mask.ts'
export type {
  RowCounts,
  StreamStart,
  SyncFacts,
  SyncObserver,
  SyncTraffic,
} from './progress/sync-observer.ts'
export {
  type Batch,
  DELETE,
  DROP,
  type LineParts,
  SOFT_DELETE,
  UPSERT,
} from './record-batch.ts'
export type { SettingsSchema } from './settings-schema.ts'
export { runSinger } from './singer/cli.ts'
export { runSingerTarget } from './singer/target/cli.ts'
export type { BookmarkSource, KeyMembers, StreamOutput } from './stream-output.ts'
export type { JsonSchema, StreamSpec } from './stream-spec.ts'
