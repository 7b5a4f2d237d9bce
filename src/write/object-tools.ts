import type { WriteSettings } from '../config/write-settings.ts'
import type { Time } from '../http/clock.ts'
import type { Journal } from './journal.ts'
import type { Verdict } from './outcome.ts'
import type { ServiceCache } from './service-cache.ts'
import type { TaskPool } from './task-pool.ts'
import type { WriteClient } from './write-client.ts'

/** The tools to write the records of one object. */
export interface ObjectTools {
  readonly client: WriteClient
  readonly settings: WriteSettings
  readonly cache: ServiceCache
  readonly journal: Journal
  readonly pool: TaskPool
  readonly time: Pick<Time, 'sleep'>
  readonly signal: AbortSignal
  /** Called once for each record, when its verdict is final. */
  readonly settle: (ordinal: number, verdict: Verdict) => void
}
