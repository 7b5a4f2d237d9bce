// What others import as `source-protime/protocol`; everything else is no interface.
export { ConnectorError, type FailureType } from '../errors.ts'
export type { Mask } from '../mask.ts'
export {
  airbyteStream,
  type ConfiguredStream,
  type StreamFacts as AirbyteStreamFacts,
} from './airbyte/catalog.ts'
export { runAirbyte } from './airbyte/cli.ts'
export type { AirbyteSource, CommandTools } from './airbyte/source.ts'
export { type AirbyteStates, createAirbyteStates } from './airbyte/states.ts'
export { type AirbyteOutputSettings, createAirbyteOutput } from './airbyte/stream-output.ts'
export type { Log } from './log.ts'
export type { CheckResult, Failure } from './outcome.ts'
export { createPageScanner } from './records/create-page-scanner.ts'
export {
  type Batch,
  DamagedPage,
  type PageEnd,
  type PageScanner,
  type RecordShape,
  RecordTooLarge,
  type ScannerOptions,
  SKIP,
} from './records/page-scanner.ts'
export {
  recordSchema,
  type SelectedStream,
  type StreamFacts as SingerStreamFacts,
  singerStream,
} from './singer/catalog.ts'
export { runSinger, type SingerTap, type TapTools } from './singer/cli.ts'
export { projectionOf, projectSchema } from './singer/projection.ts'
export type { StateWriter } from './singer/state.ts'
export { createSingerOutput, type SingerOutputSettings } from './singer/stream-output.ts'
export type { BookmarkSource, KeyMembers, StreamOutput } from './stream-output.ts'
