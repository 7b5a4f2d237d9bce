import { privately, resolvedFile } from '../ground/private-file.ts'
import { openOwned, time } from './account.ts'
import { expireHistory, FOREVER, forgetHistory, limitHistory } from './history.ts'
import type { Landing } from './landing.ts'
import { engineOf } from './landings.ts'
import { withFolder } from './sync-folder.ts'
import { told } from './unwritable.ts'
import { openLanding, type WarehouseSettings } from './warehouse.ts'

type HistorySettings = Omit<WarehouseSettings, 'folder' | 'publish' | 'history'>

/** A warehouse keeps what its rows were before from now on: for as long as it does already, or for this interval of SQL. */
export function turnHistoryOn(settings: HistorySettings, now: Date, span?: string): Promise<void> {
  return inTransaction({ ...settings, history: FOREVER }, async (landing) => {
    if (span === undefined) return
    await landing.run(limitHistory(landing.sql, span))
    await expireHistory(landing, time(landing.sql, now))
  })
}

/** Removes what the rows of a warehouse were before, and keeps no more of it. */
export function turnHistoryOff(settings: HistorySettings): Promise<void> {
  return withLanding(settings, (landing) => forgetHistory(landing, false))
}

/** Does work in one transaction of a warehouse; throws a config error if there is none. */
export async function withLanding<T>(
  settings: HistorySettings,
  work: (landing: Landing) => Promise<T>,
): Promise<T> {
  const { path, owner, patience } = settings
  // To open it for writing would create it.
  const found = await openOwned(engineOf(path), path, owner, patience)
  await found.close()
  return inTransaction(settings, work)
}

function inTransaction<T>(
  given: Omit<WarehouseSettings, 'folder' | 'publish'>,
  work: (landing: Landing) => Promise<T>,
): Promise<T> {
  const path = resolvedFile(given.path)
  return privately(() =>
    withFolder(path, engineOf(path).folderOf(path), async (folder) => {
      const { landing } = await openLanding({ ...given, path, folder })
      try {
        return await told(
          landing,
          landing.atomically(() => work(landing)),
        )
      } finally {
        await landing.close()
      }
    }),
  )
}
