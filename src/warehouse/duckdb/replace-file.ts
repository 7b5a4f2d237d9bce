import { accessSync, chmodSync, constants, existsSync, renameSync, rmSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { ConnectorError } from '../../ground/errors.ts'
import { isTemporary, notOwn, ownFile, removeLeft } from '../../ground/private-file.ts'
import { FORMAT_BEFORE, isOwned, RedactedOtherwise, readStates } from '../account.ts'
import { assertForgettable } from '../history.ts'
import type { Landing, Owner, Patience, Replacement, ReplacementRules } from '../landing.ts'
import { withFolder } from '../sync-folder.ts'
import { unwritable } from '../unwritable.ts'
import { badNameOf, closingOnError, hasContent, openDatabase, realFile } from './database.ts'
import { readFile } from './landing.ts'
import { madeByOthers } from './others.ts'
import { assertParquetFolder, isParquetFolder } from './parquet.ts'
import { assertNoLog, isTaken, notACopy, unpublished } from './publish.ts'
import { spanBefore } from './take-over.ts'

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
  { kept, dropsOthers, forgetsHistory }: ReplacementRules,
): Promise<Replacement> {
  const fresh = rewriteOf(path)
  let history: string | undefined
  let states: Replacement['states'] = new Map()
  if (hasContent(path)) {
    const isOurs = (await isOwnedUnder(path, owner, patience)) !== false
    await lookInto(path, patience, async (landing) => {
      await assertNoneOf(kept, landing)
      if (!dropsOthers) await assertNoOthers(path, landing)
      if (!isOurs) return
      history = await spanBefore(landing)
      assertForgettable(path, history, forgetsHistory)
      states = await readStates(landing)
    })
  }
  if (!(await canContinue(fresh, owner, patience, dropsOthers))) remove(fresh)
  return {
    address: fresh,
    meanwhile: `${path} stays as it was`,
    history,
    states,
    async takePlace() {
      if (existsSync(`${fresh}.wal`)) await emptyLog(fresh)
      // A sync of the old file would continue in it, and leave a write-ahead log beside the new one.
      const old = hasContent(path) ? await readFile(path, patience) : undefined
      try {
        // Others may have created something since the sync began.
        if (old !== undefined && !dropsOthers) await assertNoOthers(path, old)
        putInPlace(fresh, path)
      } catch (error) {
        throw unwritable(error)
      } finally {
        await old?.close()
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

/** The file that `--rewrite` fills. */
export const rewriteOf = (path: string): string => `${path}.rewrite`

/** Removes what an interrupted `--rewrite` has left; throws if one is running, and for a file that is not known to be of one. */
export async function removeRewrite(path: string, owner: Owner, patience: Patience): Promise<void> {
  const fresh = rewriteOf(path)
  if (hasContent(fresh)) {
    await isOfAttempt(fresh, owner, patience)
    const others = await lookInto(fresh, patience, madeByOthers)
    if (others.length > 0)
      throw notOwn(fresh, `has what no sync has created (${others.join(', ')})`)
  }
  remove(fresh)
}

/**
 * Whether the file of an earlier attempt can be filled further; otherwise it is removed, so it must have nothing of others.
 */
async function canContinue(
  fresh: string,
  owner: Owner,
  patience: Patience,
  dropsOthers: boolean,
): Promise<boolean> {
  if (!hasContent(fresh)) return false
  if ((await isOfAttempt(fresh, owner, patience)) === true) return true
  if (!dropsOthers) await lookInto(fresh, patience, (landing) => assertNoOthers(fresh, landing))
  return false
}

/** `isOwnedUnder`; throws a config error for a file that cannot be opened. */
function isOfAttempt(
  fresh: string,
  owner: Owner,
  patience: Patience,
): ReturnType<typeof isOwnedUnder> {
  return isOwnedUnder(fresh, owner, patience).catch((error) => {
    const isUnknown = error instanceof ConnectorError && UNKNOWN.includes(error.id)
    if (isUnknown)
      throw notOwn(fresh, 'has the name of a file that --rewrite fills, and cannot be opened')
    throw error
  })
}

/** The ids of errors for a file that nobody can say the origin of. */
const UNKNOWN: readonly string[] = ['warehouse-not-opened', 'not-duckdb']

async function assertNoOthers(path: string, landing: Landing): Promise<void> {
  const others = await madeByOthers(landing)
  if (others.length === 0) return
  throw new ConnectorError(
    'config',
    'made-by-others',
    `The new file of --rewrite would lack what no sync has created in ${path}: ${others.join(', ')}. Move it to a file of its own, or add --drop-others to lose it.`,
  )
}

/**
 * Whether it belongs to the owner, with the same settings or with others; throws if it belongs to another owner.
 */
function isOwnedUnder(
  path: string,
  owner: Owner,
  patience: Patience,
): Promise<boolean | 'with other settings'> {
  return lookInto(path, patience, (landing) => isOwned(landing, path, owner, FORMAT_BEFORE)).catch(
    (error) => {
      if (error instanceof RedactedOtherwise) return 'with other settings'
      throw error
    },
  )
}

async function assertNoneOf(streams: readonly string[], landing: Landing): Promise<void> {
  const tables = new Set((await landing.query(TABLES)).map(([name]) => name))
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
  look: (landing: Landing) => Promise<T>,
): Promise<T> {
  const landing = await readFile(path, patience)
  return look(landing).finally(() => landing.close())
}

/** Writes the rows of a log into its file. DuckDB does that when it closes the file, but says nothing if it cannot. */
async function emptyLog(path: string): Promise<void> {
  await withFolder(path, path, async (folder) => {
    const database = await openDatabase(path, folder)
    await closingOnError(database, () => database.connection.run('CHECKPOINT')).catch((error) => {
      throw unwritable(error)
    })
    database.close()
  })
}

function remove(path: string): void {
  // Its log first: of a log without its file, nobody would know whose it is after a kill in between.
  for (const file of [`${path}.wal`, path]) rmSync(file, { force: true })
  removeLeft(path)
}

/** The path of a file without symbolic links in its folder. */
function placeOf(path: string): string {
  return join(realFile(dirname(path)), basename(path))
}

/** Whether a path has the name of a file that DuckDB or a sync creates beside a warehouse. */
function isBeside(file: string, path: string): boolean {
  const names = [file, rewriteOf(file)]
  return names.some(
    (one) => [one, `${one}.wal`, `${one}.tmp`].includes(path) || isTemporary(path, one),
  )
}

/**
 * Throws a config error if the file cannot be copied to this path. What is there may only be an empty file, or an
 * earlier copy for the same owner. Both paths are without symbolic links. `patience` is for the file.
 */
export async function assertPublishable(
  file: string,
  copy: string,
  owner: Owner,
  patience: Patience,
): Promise<void> {
  const [warehouse, place] = [placeOf(file), placeOf(copy)]
  if (warehouse === place)
    throw new ConnectorError(
      'config',
      'published-onto-itself',
      `The file given by --publish is the warehouse itself: ${copy}. Name another file for the copy.`,
    )
  if (isBeside(warehouse, place))
    throw new ConnectorError(
      'config',
      'published-onto-itself',
      `The file given by --publish has the name of a file that a sync makes beside the warehouse: ${copy}. Name another file for the copy.`,
    )
  try {
    if (isParquetFolder(copy)) return assertParquetFolder(copy, owner)
    const isBad = badNameOf(copy)
    if (isBad !== undefined) throw new Error(`DuckDB does not open a file named ${isBad}`)
    accessSync(dirname(copy), constants.W_OK)
    ownFile(copy)
  } catch (error) {
    throw unpublished(copy, error)
  }
  await assertIsCopy(file, copy, owner, patience)
  assertNoLog(copy)
}

async function assertIsCopy(
  file: string,
  copy: string,
  owner: Owner,
  patience: Patience,
): Promise<void> {
  if (!isTaken(copy)) return
  // A copy may have been given to another user. No sync writes into a file that it cannot read.
  if (!isReadable(copy)) return
  if (!(await isOf(owner, copy))) {
    assertNoLog(copy)
    throw notACopy(copy, 'remove this one')
  }
  // Nobody can write into a copy, and a sync can write into every warehouse.
  const isReadOnly = (statSync(copy).mode & 0o200) === 0
  if (isReadOnly || (await hasNothingElse(copy, file, patience))) return
  throw notACopy(
    copy,
    'if this one is an old copy that you have made writable, run chmod a-w on it',
  )
}

async function isOf(owner: Owner, copy: string): Promise<boolean> {
  try {
    return (await isOwnedUnder(copy, owner, once)) !== false
  } catch (error) {
    // Whoever has a copy open continues with it when it is replaced.
    return isInUse(error)
  }
}

/** Whether each sync that a file has an account of is one of the warehouse, and each object of others is there, too. */
async function hasNothingElse(copy: string, path: string, patience: Patience): Promise<boolean> {
  if (!hasContent(path)) return false
  const content = async (landing: Landing) => ({
    syncs: new Set(await syncsOf(landing)),
    others: new Set(await madeByOthers(landing)),
  })
  const own = await lookInto(path, patience, content)
  try {
    const { syncs, others } = await lookInto(copy, once, content)
    const hasAll = (all: ReadonlySet<string>, some: ReadonlySet<string>) =>
      [...some].every((one) => all.has(one))
    return syncs.size > 0 && hasAll(own.syncs, syncs) && hasAll(own.others, others)
  } catch (error) {
    if (isInUse(error)) return false
    throw error
  }
}

/** When each sync began. */
async function syncsOf(landing: Landing): Promise<readonly string[]> {
  if (!(await landing.ownTables())('syncs')) return []
  return (await landing.query('SELECT epoch_us(began) FROM _protime.syncs')).map(([at]) =>
    String(at),
  )
}

const once: Patience = (open) => open()

function isReadable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK)
    return true
  } catch {
    return false
  }
}

function isInUse(error: unknown): boolean {
  return error instanceof ConnectorError && error.failure === 'transient'
}
