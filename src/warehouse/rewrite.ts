import { chmodSync, existsSync, renameSync, rmSync, statSync } from 'node:fs'
import { openDatabase, type Patience } from './duckdb.ts'
import { isOwned, type Owner, RedactedOtherwise } from './owner.ts'
import { unwritable } from './stream-rows.ts'

/** A file that is filled in order to take the place of another one. */
export interface Replacement {
  readonly path: string
  /** Puts it there, with the mode of the other one. Nobody may have it open. */
  takePlace(): void
}

/**
 * Prepares to fill a file from the beginning and to put it in the place of a warehouse, so that no byte of what that has
 * is left. The warehouse stays as it is meanwhile. What an earlier attempt has filled under the same settings is gone on
 * with. Throws a config error for a warehouse of another owner.
 */
export async function prepareReplacement(
  path: string,
  owner: Owner,
  patience: Patience,
): Promise<Replacement> {
  const fresh = `${path}.rewrite`
  if (existsSync(path)) await isOwnedUnder(path, owner, patience)
  if (existsSync(fresh) && !(await isOwnedUnder(fresh, owner, patience))) remove(fresh)
  return {
    path: fresh,
    takePlace() {
      try {
        if (existsSync(path)) chmodSync(fresh, statSync(path).mode & 0o777)
        // What a process that was killed has left of the old file would be read as a part of the new one.
        rmSync(`${path}.wal`, { force: true })
        renameSync(fresh, path)
      } catch (error) {
        throw unwritable(error)
      }
    },
  }
}

/** Whether it is the owner's under the same settings; throws for one of another owner. */
async function isOwnedUnder(path: string, owner: Owner, patience: Patience): Promise<boolean> {
  const database = await patience(() => openDatabase(path))
  try {
    return await isOwned(database.connection, path, owner)
  } catch (error) {
    if (error instanceof RedactedOtherwise) return false
    throw error
  } finally {
    database.close()
  }
}

function remove(path: string): void {
  for (const file of [path, `${path}.wal`]) rmSync(file, { force: true })
}
