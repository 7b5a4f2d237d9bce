// What other packages import as `source-protime/protocol`. Nothing else is public.

export { ConnectorError, type FailureType } from '../ground/errors.ts'
export { elementsOf } from '../ground/json.ts'
export type { Mask } from '../ground/mask.ts'
export type { SettingsSchema } from '../ground/settings-schema.ts'
export {
  createJsonBatch,
  DELETE,
  type JsonRecord,
  type LineParts,
  type RecordBatch,
  SKIP,
  SOFT_DELETE,
  UPSERT,
} from '../records/record-batch.ts'
export type { JsonSchema, StreamSpec } from '../records/stream-spec.ts'
export { runAirbyte, runAirbyteDestination } from './airbyte/entrypoint.ts'
export type {
  CheckResult,
  Connector,
  ConnectorFacts,
  Failure,
  KeyMembers,
  Log,
  ReadTools,
  RowCounts,
  Source,
  Stamp,
  StateSource,
  StreamNotice,
  StreamOutput,
  StreamRequest,
  StreamStart,
  SyncFacts,
  SyncReporter,
  SyncTraffic,
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
export { runSinger } from './singer/tap.ts'
export { runSingerTarget } from './singer/target.ts'
