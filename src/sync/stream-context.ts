import type { Config } from '../config/config.ts'
import type { Day } from '../ground/days.ts'
import type { Endpoints } from '../http/endpoints.ts'
import type { Log, SyncObserver } from '../protocol/connector.ts'
import type { StreamInventory } from '../rows/stream-inventory.ts'
import type { Emit, EmitTools } from './emit.ts'
import type { ExpiredDeltas } from './notices.ts'

/** What the read of one stream works with. */
export interface StreamContext extends EmitTools {
  readonly config: Config
  readonly endpoints: Endpoints
  readonly emit: Emit
  /** The last day of lists; see `lastDayOf`. */
  readonly lastDay: Day
  readonly log: Log
  readonly observer: SyncObserver | undefined
  /** Shared by all streams of the sync. */
  readonly expiredDeltas: ExpiredDeltas
  /** Set if an inventory is written. */
  readonly inventory: StreamInventory | undefined
}
