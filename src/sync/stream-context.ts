import type { Config } from '../config/config.ts'
import type { Endpoints } from '../http/endpoints.ts'
import type { ServerClock } from '../http/server-clock.ts'
import type { Log } from '../protocol/connector.ts'
import type { StreamStart } from '../protocol/progress/sync-observer.ts'
import type { Batch } from '../protocol/record-batch.ts'
import type { StreamOutput } from '../protocol/stream-output.ts'
import type { EarlyEnds } from './early-ends.ts'
import type { Pages } from './pages.ts'
import type { Reading } from './reading.ts'

/** What the reading of one stream works with. */
export interface StreamContext {
  readonly reading: Reading
  readonly config: Config
  readonly endpoints: Endpoints
  readonly clock: ServerClock
  readonly pages: Pages
  readonly output: StreamOutput
  /** What leaves of a batch of records. */
  readonly treat: (batch: Batch) => Batch
  readonly log: Log
  /** Told from where the stream is read, and again when it begins anew. */
  readonly onStart: (start: StreamStart) => void
  /** Shared by the streams of the sync. */
  readonly earlyEnds: EarlyEnds
}
