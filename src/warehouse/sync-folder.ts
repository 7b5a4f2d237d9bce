import { mkdirSync, rmSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import { ConnectorError } from '../ground/errors.ts'
import { removeLeft, temporaryBeside } from '../ground/private-file.ts'
import { isFull, unwritable } from './unwritable.ts'

/**
 * Does work with a folder of its own beside a path, which only this user can enter, and which is gone afterwards. The next
 * sync may begin before this one has removed its folder, so each has its own. `warehouse` is its name in messages.
 */
export async function withFolder<T>(
  warehouse: string,
  beside: string,
  work: (folder: string) => Promise<T>,
): Promise<T> {
  // DuckDB is given files in it, and takes a path that begins with ~ for one in the home folder.
  const folder = temporaryBeside(isAbsolute(beside) ? beside : join(process.cwd(), beside))
  makeFolder(warehouse, folder)
  try {
    return await work(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/**
 * Removes the folders that killed processes have left beside a path. Nobody else may have the warehouse open. The folder of
 * this process may have been taken for one of them while it waited for the warehouse.
 */
export function removeOthers(beside: string, folder: string): void {
  mkdirSync(folder, { mode: 0o700, recursive: true })
  removeLeft(beside, folder)
}

function makeFolder(warehouse: string, folder: string): void {
  try {
    mkdirSync(folder, { mode: 0o700 })
  } catch (error) {
    if (isFull(error)) throw unwritable(error)
    const { code, message } = error as NodeJS.ErrnoException
    throw new ConnectorError(
      'config',
      'warehouse-not-opened',
      `The warehouse ${warehouse} cannot be opened: a sync needs the folder ${folder} (${code ?? message}).`,
      { cause: error },
    )
  }
}
