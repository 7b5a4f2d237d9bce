import { randomBytes } from 'node:crypto'
import { mkdirSync, readdirSync, rmdirSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { ConnectorError } from '../ground/errors.ts'
import { ownFolder } from '../ground/private-file.ts'
import { isFull, unwritable } from './unwritable.ts'

/**
 * Does work with a folder of its own in `base`, which only this user can enter, and which is gone afterwards. `path` is the
 * warehouse, for messages.
 */
export async function withFolder<T>(
  path: string,
  base: string,
  work: (folder: string) => Promise<T>,
): Promise<T> {
  const folder = freeFolder(base)
  makeFolder(path, folder)
  try {
    return await work(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
    removeIfEmpty(dirname(folder))
  }
}

/**
 * Removes what killed processes have left beside this folder. Nobody else may have the warehouse open. The folder itself may
 * have been taken for that while this process waited for the file, and the one before may be removing its own.
 */
export function removeOthers(folder: string): void {
  mkdirSync(folder, { mode: 0o700, recursive: true })
  for (const name of readdirSync(dirname(folder)))
    if (name !== basename(folder))
      rmSync(join(dirname(folder), name), { recursive: true, force: true })
}

/**
 * The folder of one sync, in that of its landing. The next sync may begin before this one has removed its folder, so
 * each has its own.
 */
function freeFolder(base: string): string {
  return join(base, randomBytes(6).toString('hex'))
}

function makeFolder(path: string, folder: string): void {
  try {
    ownFolder(dirname(folder))
    ownFolder(folder)
  } catch (error) {
    if (isFull(error)) throw unwritable(error)
    if (error instanceof ConnectorError) throw error
    const { code, message } = error as NodeJS.ErrnoException
    throw new ConnectorError(
      'config',
      'warehouse-not-opened',
      `The warehouse ${path} cannot be opened: a sync needs the folder ${dirname(folder)} (${code ?? message}).`,
      { cause: error },
    )
  }
}

function removeIfEmpty(folder: string): void {
  try {
    rmdirSync(folder)
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    // The next sync has its folder there, or has ended in the meantime.
    if (!['ENOTEMPTY', 'EEXIST', 'ENOENT'].includes(code)) throw error
  }
}
