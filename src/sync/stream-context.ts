import type { Config } from '../config.ts'
import type { Client } from '../http/client.ts'
import type { Endpoints } from '../http/endpoints.ts'
import type { RetryPolicy } from '../http/retry-policy.ts'
import type { ServerClock } from '../http/server-clock.ts'
import type { Log } from '../protocol/connector.ts'
import type { StreamOutput } from '../protocol/stream-output.ts'
import type { EarlyEnds } from './early-ends.ts'
import type { Pages } from './pages.ts'

/** What the reading of one stream works with. */
export interface StreamTools {
  readonly config: Config
  readonly service: Endpoints
  readonly client: Client
  readonly clock: ServerClock
  readonly pages: Pages
  readonly output: StreamOutput
  readonly log: Log
  /** Shared by the streams of the sync. */
  readonly earlyEnds: EarlyEnds
  readonly signal: AbortSignal
  readonly patience: RetryPolicy
}
