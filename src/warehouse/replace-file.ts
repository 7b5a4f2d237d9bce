import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  fsyncSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { dirname, resolve } from 'node:path'
import type { DuckDBConnection } from '@duckdb/node-api'
import { ConnectorError } from '../ground/errors.ts'
import { ownFile } from '../ground/private-file.ts'
import {
  isOwned,
  keepsDeletedRows,
  MARKED_TABLES,
  type Owner,
  RedactedOtherwise,
  readStates,
} from './account.ts'
import { DELETED_AT } from './column.ts'
import { closingOnError, hasContent, openDatabase, type Patience, run, texts } from './duckdb.ts'
import { madeByOthers } from './others.ts'
import { quoted } from './sql.ts'
import { unwritable } from './unwritable.ts'

/** A file that will replace another one. */
export interface Replacement {
  readonly path: string
  /** Whether the other file keeps deleted rows, and how many it has. */
  readonly keepsDeleted: boolean
  readonly deletedRows: number
  /** The states of the streams in the other file. */
  readonly states: ReadonlyMap<string, unknown>
  /** Replaces the other file and keeps its mode; a transient error if a process has that open. */
  takePlace(): Promise<void>
}

/** What a new file may lack. */
export interface ReplacementRules {
  /** Streams that it must have if the old one has them. */
  readonly kept: readonly string[]
  /** Whether it may lack objects that no sync has created. */
  readonly dropsOthers: boolean
}

/**
 * Prepares a file that is filled from the beginning and then replaces a warehouse, so that no byte of the old
 * one is left. Meanwhile the warehouse does not change. If an earlier attempt has filled a file with the same
 * settings, it continues. Throws a config error for a warehouse of another owner, and if the new one would lack what the
 * rules protect.
 */
export async function prepareReplacement(
  path: string,
  owner: Owner,
  patience: Patience,
  { kept, dropsOthers }: ReplacementRules,
): Promise<Replacement> {
  const fresh = `${path}.rewrite`
  const deleted = { keepsDeleted: false, deletedRows: 0 }
  let states: Replacement['states'] = new Map()
  if (hasContent(path)) {
    const isOurs = (await isOwnedUnder(path, owner, patience)) !== false
    await lookInto(path, patience, async (connection) => {
      await assertNoneOf(kept, connection)
      if (!dropsOthers) await assertNoOthers(path, connection)
      if (!isOurs) return
      deleted.keepsDeleted = await keepsDeletedRows(connection)
      deleted.deletedRows = await deletedRowsIn(connection)
      states = await readStates(connection)
    })
  }
  if (!(await canContinue(fresh, owner, patience))) remove(fresh)
  return {
    path: fresh,
    ...deleted,
    states,
    async takePlace() {
      if (existsSync(`${fresh}.wal`)) await emptyLog(fresh)
      // A sync of the old file would continue in it, and leave a write-ahead log beside the new one.
      const old = hasContent(path) ? await patience(() => openDatabase(path)) : undefined
      try {
        // Others may have created something since the sync began.
        if (old !== undefined && !dropsOthers) await assertNoOthers(path, old.connection)
        putInPlace(fresh, path)
      } catch (error) {
        throw unwritable(error)
      } finally {
        old?.close()
      }
    },
  }
}

/** Gives a complete file the name of the one that it replaces, and its mode. Nobody may write either of them meanwhile. */
export function putInPlace(fresh: string, path: string): void {
  if (hasContent(path)) chmodSync(fresh, statSync(path).mode & 0o777)
  // Files that a killed process has left for the old file would be read as a part of the new one.
  rmSync(`${path}.wal`, { force: true })
  renameSync(fresh, path)
}

/** Whether the file of an earlier attempt can be filled further. One that cannot be opened was cut by a kill or a full disk. */
async function canContinue(fresh: string, owner: Owner, patience: Patience): Promise<boolean> {
  if (!hasContent(fresh)) return false
  try {
    return (await isOwnedUnder(fresh, owner, patience)) === true
  } catch (error) {
    if (error instanceof ConnectorError && error.id === 'warehouse-not-opened') return false
    throw error
  }
}

async function assertNoOthers(path: string, connection: DuckDBConnection): Promise<void> {
  const others = await madeByOthers(connection)
  if (others.length === 0) return
  throw new ConnectorError(
    'config',
    'made-by-others',
    `The new file of --rewrite would lack what no sync has created in ${path}: ${others.join(', ')}. Move it to a file of its own, or add --drop-others to lose it.`,
  )
}

async function deletedRowsIn(connection: DuckDBConnection): Promise<number> {
  let sum = 0
  for (const [table = ''] of await texts(connection, MARKED_TABLES)) {
    const [[count] = []] = await texts(
      connection,
      `SELECT count(source.${DELETED_AT}) FROM main.${quoted(table)} AS source`,
    )
    sum += Number(count)
  }
  return sum
}

/**
 * Whether it belongs to the owner, with the same settings or with others; throws if it belongs to another owner.
 */
function isOwnedUnder(
  path: string,
  owner: Owner,
  patience: Patience,
): Promise<boolean | 'with other settings'> {
  return lookInto(path, patience, (connection) => isOwned(connection, path, owner)).catch(
    (error) => {
      if (error instanceof RedactedOtherwise) return 'with other settings'
      throw error
    },
  )
}

async function assertNoneOf(
  streams: readonly string[],
  connection: DuckDBConnection,
): Promise<void> {
  const tables = new Set((await texts(connection, TABLES)).map(([name]) => name))
  const missing = streams.filter((stream) => tables.has(stream))
  if (missing.length === 0) return
  throw new ConnectorError(
    'config',
    'streams-left-out',
    `The new file of --rewrite would lack streams of this one, because --streams does not name them: ${missing.join(', ')}. Name them too, or leave --streams out. To keep fewer streams permanently, name them in streams in the configuration.`,
  )
}

const TABLES = `SELECT table_name FROM duckdb_tables()
  WHERE database_name = current_database() AND schema_name = 'main'`

async function lookInto<T>(
  path: string,
  patience: Patience,
  look: (connection: DuckDBConnection) => Promise<T>,
): Promise<T> {
  const database = await patience(() => openDatabase(path))
  try {
    return await look(database.connection)
  } finally {
    database.close()
  }
}

/** Writes the rows of a log into its file. DuckDB does that when it closes the file, but says nothing if it cannot. */
async function emptyLog(path: string): Promise<void> {
  const database = await openDatabase(path, `${path}.sync`)
  await closingOnError(database, () => run(database.connection, ['CHECKPOINT'])).catch((error) => {
    throw unwritable(error)
  })
  database.close()
}

function remove(path: string): void {
  for (const file of [path, `${path}.wal`]) rmSync(file, { force: true })
}

/** Nobody can write into a copy; its owner decides who else reads it. */
const MODE = 0o400

/** The file that becomes a copy when it is complete. */
const partialOf = (copy: string) => `${copy}.publish`

/** The names of the files that DuckDB and a sync create beside a warehouse. */
const BESIDE = ['.wal', '.tmp', '.sync', '.rewrite', '.rewrite.wal', '.rewrite.sync']

/**
 * Throws a config error if the file cannot be copied to this path. What is there may only be an empty file, or an
 * earlier copy for the same owner. Both paths are without symbolic links.
 */
export async function assertPublishable(file: string, copy: string, owner: Owner): Promise<void> {
  if (resolve(file) === resolve(copy))
    throw new ConnectorError(
      'config',
      'published-onto-itself',
      `The file given by --publish is the warehouse itself: ${copy}. Name another file for the copy.`,
    )
  const taken = BESIDE.find((ending) => resolve(`${file}${ending}`) === resolve(copy))
  if (taken !== undefined)
    throw new ConnectorError(
      'config',
      'published-onto-itself',
      `The file given by --publish has the name of a file that a sync makes beside the warehouse: ${copy}. Name another file for the copy.`,
    )
  if (resolve(partialOf(copy)) === resolve(file))
    throw new ConnectorError(
      'config',
      'published-onto-itself',
      `The warehouse has the name of the file in which a sync makes the copy given by --publish: ${file}. Name another file for the copy.`,
    )
  try {
    accessSync(dirname(copy), constants.W_OK)
    ownFile(copy)
  } catch (error) {
    throw unpublished(copy, error)
  }
  if (!existsSync(copy) || statSync(copy).size === 0 || (await isCopyFor(owner, copy))) return
  throw new ConnectorError(
    'config',
    'not-a-copy',
    `The file given by --publish is not a copy of this warehouse, so it is not replaced: ${copy}. Name another file, or remove this one.`,
  )
}

async function isCopyFor(owner: Owner, copy: string): Promise<boolean> {
  try {
    accessSync(copy, constants.R_OK)
  } catch {
    // A copy may have been given to another user.
    return true
  }
  try {
    return await lookInto(
      copy,
      (open) => open(),
      (connection) => isOwned(connection, copy, owner),
    )
  } catch (error) {
    // Whoever has a copy open continues with it when it is replaced.
    const isInUse = error instanceof ConnectorError && error.failure === 'transient'
    return isInUse || error instanceof RedactedOtherwise
  }
}

/**
 * Atomically replaces the previous copy of a file, and keeps its mode: processes that read the previous copy
 * continue with it. Nobody may write the file meanwhile. If it throws a ConnectorError, the copy has not
 * changed.
 */
export function publish(file: string, copy: string): void {
  const fresh = partialOf(copy)
  try {
    const mode = existsSync(copy) ? statSync(copy).mode & 0o777 : MODE
    rmSync(fresh, { force: true })
    copyFileSync(file, fresh, constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL)
    const written = openSync(fresh, 'r+')
    fsyncSync(written)
    closeSync(written)
    chmodSync(fresh, mode)
    ownFile(copy)
    // What a killed process has written for the previous copy would be read as a part of the new one.
    rmSync(`${copy}.wal`, { force: true })
    renameSync(fresh, copy)
  } catch (error) {
    rmSync(fresh, { force: true })
    throw unpublished(copy, error)
  }
}

function unpublished(copy: string, error: unknown): ConnectorError {
  if (error instanceof ConnectorError)
    return new ConnectorError(
      error.failure,
      error.id,
      `The copy given by --publish cannot be written: ${error.message}`,
      { cause: error },
    )
  const { code = '', message } = error as NodeJS.ErrnoException
  return new ConnectorError(
    code === 'ENOSPC' ? 'system' : 'config',
    'copy-not-written',
    `The copy given by --publish cannot be written: ${copy} (${code === '' ? message : code}).`,
    { cause: error },
  )
}
