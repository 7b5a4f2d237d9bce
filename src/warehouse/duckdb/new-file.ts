import { linkSync, renameSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { ConnectorError } from '../../ground/errors.ts'
import { ownFile } from '../../ground/private-file.ts'
import { unwritable } from '../unwritable.ts'
import { closingOnError, hasContent, openDatabase } from './database.ts'

/** Creates the schemas of a warehouse where they are missing. */
export const SCHEMAS = ['flat', 'history', '_protime']
  .map((name) => `CREATE SCHEMA IF NOT EXISTS ${name}`)
  .join('; ')

/**
 * Creates the file of a warehouse, which has an owner as soon as it is visible: it is made in the folder of the sync,
 * where nobody else can put anything. `claim` are the statements that give it one. An empty file in its place is replaced. If another process creates the file
 * meanwhile, that one stays.
 */
export async function createFile(
  path: string,
  folder: string,
  claim: readonly string[],
): Promise<void> {
  const fresh = join(folder, basename(path))
  try {
    const database = await openDatabase(fresh, folder)
    await closingOnError(database, async () => {
      await database.connection.run(['BEGIN', SCHEMAS, ...claim, 'COMMIT'].join(';\n'))
      // DuckDB does that when it closes the file, too, but says nothing if it cannot.
      await database.connection.run('CHECKPOINT')
    })
    database.close()
    makeRoom(path, folder)
    makeVisible(fresh, path)
  } catch (error) {
    // Another process may have created the file meanwhile, and removed this folder as one that was left behind.
    if (hasContent(path)) return
    const { failure, id, message } = unwritable(error)
    throw new ConnectorError(failure, id, message.replaceAll(fresh, path), { cause: error })
  }
}

/** Takes away an empty file. */
function makeRoom(path: string, folder: string): void {
  if (hasContent(path) || ownFile(path) === undefined) return
  const taken = join(folder, 'left')
  renameSync(path, taken)
  // Another process may have replaced it in this moment.
  if (ownFile(taken)?.size !== 0) linkSync(taken, path)
}

/** Gives a file its name, unless another one has it. */
function makeVisible(fresh: string, path: string): void {
  try {
    linkSync(fresh, path)
    rmSync(fresh)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST') return
    // Some file systems have no hard links.
    if (ownFile(path) === undefined) renameSync(fresh, path)
  }
}
