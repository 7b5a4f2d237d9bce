import { rmSync } from 'node:fs'
import type { ConnectorError } from '../ground/errors.ts'
import { type IdentifiedMessage, warningOf } from '../ground/message-ids.ts'
import type { Log } from '../protocol/connector.ts'
import type { StreamSpec } from '../records/stream-spec.ts'
import {
  accountTables,
  beginSync,
  claim,
  committed,
  endSync,
  FORMAT_BEFORE,
  isOwned,
  nextMoment,
  readStates,
  type SyncEnd,
  storeStates,
  streamsToStartOver,
  time,
} from './account.ts'
import type { Column } from './column.ts'
import { columnsOf } from './column-names.ts'
import { damageOf, warningOfDamage } from './damage.ts'
import { valuesIn, warnOfEmptied } from './emptied-columns.ts'
import type { Description } from './flat-view.ts'
import { expireHistory, historySpan, keepHistory, noteRead } from './history.ts'
import type { Dialect, Landing, Owner, Patience } from './landing.ts'
import { engineOf } from './landings.ts'
import { assertAllWait, type Load, loadRows, type Progress, partsOf } from './load-rows.ts'
import { type DaysLeft, removeBefore } from './settle.ts'
import { alterTable, keyColumns, nextOf, quoted, type Table } from './sql.ts'
import {
  assertNameIsFree,
  historyOf,
  newMembers,
  othersAmong,
  prepareTable,
  readTables,
  type StoredTables,
  storeColumns,
  withNew,
} from './tables.ts'
import { told } from './unwritable.ts'
import { createViews, type MadeViews, storeViews } from './views.ts'

/** The rows of one tenant and their states: a table per stream, and a view per stream with nested objects as columns. */
export interface Warehouse {
  readonly sql: Dialect
  /** See `readStates`. */
  states(): Promise<ReadonlyMap<string, unknown>>
  /** See `streamsToStartOver`. */
  streamsToStartOver(): Promise<ReadonlySet<string>>
  /** Creates missing tables and views for a sync; returns the columns of each table. */
  prepare(specs: readonly StreamSpec[], at: Date): Promise<ReadonlyMap<string, readonly Column[]>>
  /** The columns in lower case that others had added to the table when it was prepared. */
  othersIn(stream: string): ReadonlySet<string>
  /**
   * The highest generation of the table's rows when it was prepared; -1 without rows. Infinite if rows of an earlier
   * sync wait in its next table.
   */
  highestGeneration(stream: string): number
  /**
   * Loads rows, stores states, and then removes the files of rows. The rows and the state of a stream are committed
   * together or not at all. Rows of a complete read are in the stream's table when the read is over. Returns the
   * streams that could not be committed.
   */
  commit(loads: readonly Load[], at: Date): Promise<ReadonlyMap<string, ConnectorError>>
  /** Records how the sync ended, and drops variants without values after a complete read. */
  finish(outcome: SyncEnd): Promise<void>
  /** Publishes a copy of what is committed; see `Landing.publish`. */
  publish(copy: string): Promise<void>
  close(): Promise<void>
}

export interface WarehouseSettings {
  readonly path: string
  /** The folder of the sync, for its files of rows and for data that does not fit into memory. */
  readonly folder: string
  /** How long closed versions are kept from now on; a landing that keeps them already goes on as before. */
  readonly history?: string | undefined
  readonly owner: Owner
  /** Waits for a landing that another process has open. */
  readonly patience: Patience
  /** Where a copy is published afterwards. */
  readonly publish?: string | undefined
  /** Whether everything is read anew, in place of what is there; by default false. */
  readonly rewrites?: boolean | undefined
  readonly log: Log
}

/**
 * Opens the landing, or creates it. Throws what its engine throws, and a config error if it has another owner; then it is
 * not changed.
 */
export async function openWarehouse(settings: WarehouseSettings): Promise<Warehouse> {
  const { landing, span } = await openLanding(settings)
  return createWarehouse(landing, { ...settings, keepsHistory: span !== undefined })
}

/** The same without what only syncs do; `span` is how long closed versions are kept, if they are. */
export async function openLanding(
  settings: WarehouseSettings,
): Promise<{ readonly landing: Landing; readonly span: string | undefined }> {
  const { path, folder, owner, patience, publish, history, log } = settings
  const landing = await engineOf(path).open(path, {
    folder,
    patience,
    publish,
    inspect: async (asked) => void (await isOwned(asked, path, owner, FORMAT_BEFORE)),
    claim: (sql) => claim(sql, owner),
    log,
  })
  const { sql } = landing
  try {
    // A file of somebody else who has no tables of ours becomes the tenant's.
    const isOurs = await isOwned(landing, path, owner)
    const statements = [
      ...(isOurs ? accountTables(sql) : claim(sql, owner)),
      ...(history === undefined ? [] : [keepHistory(sql, history)]),
    ]
    const opened = landing.atomically(async () => {
      await landing.run(statements.join(';\n'))
      return historySpan(landing)
    })
    const span = await told(landing, opened)
    return { landing, span }
  } catch (error) {
    await landing.close()
    throw error
  }
}

interface OpenedSettings extends Pick<WarehouseSettings, 'path' | 'rewrites' | 'log'> {
  readonly keepsHistory: boolean
}

function rewriteNotComplete(path: string) {
  return warningOf(
    'rewrite-not-complete',
    `An earlier sync with --rewrite has not ended, so ${path} may still have values of before. The next sync with --rewrite continues.`,
  )
}

function createWarehouse(
  landing: Landing,
  { keepsHistory, path, rewrites = false, log }: OpenedSettings,
): Warehouse {
  const { sql } = landing
  let known: ReadonlyMap<string, Known> = new Map()
  return {
    sql,
    states: () => told(landing, readStates(landing)),
    streamsToStartOver: () => told(landing, streamsToStartOver(landing)),
    prepare: (specs, at) =>
      told(
        landing,
        landing.atomically(async () => {
          const stored = await readTables(
            landing,
            specs.map(({ name }) => name),
          )
          // Rows, and bytes of rows, of before stay until it ends, whatever other syncs have read.
          if (!rewrites && stored.hasOwn('rewrite')) log.warn(rewriteNotComplete(path))
          const prepared = new Map<string, Known>()
          for (const spec of specs)
            prepared.set(spec.name, await prepareStream(landing, spec, stored, keepsHistory, log))
          const made = [...prepared.values()].flatMap((stream) => stream.made)
          for (const warning of await storeViews(landing, made)) log.warn(warning)
          await landing.run(beginSync(sql, [...prepared.keys()], at).join(';\n'))
          // Rows are compared with those that are there, however long.
          await landing.makeRoom(
            Math.max(0, ...[...prepared.values()].map(({ longest }) => longest)),
          )
          known = prepared
          return new Map([...prepared].map(([name, { table }]) => [name, table.columns]))
        }),
      ),
    othersIn: (stream) => knownOf(stream).table.others,
    highestGeneration(stream) {
      const { generation, next } = knownOf(stream)
      return next === undefined ? generation : Number.POSITIVE_INFINITY
    },
    async commit(loads, at) {
      const failures = new Map<string, ConnectorError>()
      await commitTogether(loads, at).catch(async (error) => {
        ofOne(error)
        // A single stream may be the cause, so each is committed separately.
        for (const load of loads)
          await commitTogether([load], at).catch((reason) =>
            failures.set(load.stream, ofOne(reason)),
          )
      })
      for (const { path } of loads.flatMap(({ files }) => files)) rmSync(path)
      return failures
    },
    finish: (outcome) =>
      told(
        landing,
        landing.atomically(async () => {
          for (const stream of known.values()) {
            if (!stream.isReadWhole) continue
            await dropEmptyVariants(landing, stream)
            await landing.indexKey(stream.table.name, keyColumns(stream.table))
          }
          await expireHistory(landing, time(sql, outcome.at))
          await landing.run(endSync(sql, outcome).join(';\n'))
        }),
      ),
    publish: (copy) => landing.publish(copy),
    close: () => landing.close(),
  }

  /** The failure of one stream; throws one of the whole landing. */
  function ofOne(reason: unknown): ConnectorError {
    const { error, isOfAll } = landing.failureOf(reason)
    if (isOfAll) throw error
    return error
  }

  async function commitTogether(loads: readonly Load[], at: Date): Promise<void> {
    const next = new Map(known)
    const warnings = await landing.atomically(async () => {
      const moment = await nextMoment(landing, at)
      for (const load of loads)
        next.set(load.stream, await commitLoad(landing, knownOf(load.stream), load, moment, log))
      return noteCommit(landing, loads, next)
    })
    known = next
    for (const warning of warnings) log.warn(warning)
  }

  function knownOf(stream: string): Known {
    const present = known.get(stream)
    if (present === undefined) throw new Error(`the warehouse was not prepared for ${stream}`)
    return present
  }
}

/** A stream of this sync: its description and the progress of its rows. */
interface Known extends Description, Progress {
  /** See `createViews`; of the last transaction. */
  readonly made: readonly MadeViews[]
  /** Whether this sync has committed a complete read. */
  readonly isReadWhole: boolean
}

/** Creates the table and the view of a stream, or adapts those of earlier syncs. */
async function prepareStream(
  landing: Landing,
  spec: StreamSpec,
  stored: StoredTables,
  keepsHistory: boolean,
  log: Log,
): Promise<Known> {
  const { sql } = landing
  const { name, key: keys, version, schema, isOfSync } = spec
  const { present, members, views, viewOf } = stored
  const before = stored.columns.get(name) ?? []
  const others = othersAmong(before, present.columnsOf(name))
  const columns = withNew(before, columnsOf(schema, sql.limits), others, sql.limits)
  const place = `${sql.schemas.tables}.${quoted(name)}`
  const damage = damageOf(sql, name, before, present)
  const warning = warningOfDamage(name, damage, present)
  // What has replaced damaged rows is not known to have changed.
  const read = warning === undefined ? stored.histories.get(name) : undefined
  const history = keepsHistory && isOfSync !== true ? historyOf(sql, name, read) : undefined
  const table = { name, place, keys, version, columns, history, others }
  assertNameIsFree(sql, table, before, stored)
  if (warning !== undefined) log.warn(warning)
  const progress = await prepareTable(landing, table, before, damage, stored)
  const own = { members: members.get(name) ?? [], names: stored.names.get(name) ?? new Map() }
  const description = { spec, table, ...own }
  const made = await createViews(landing, description, views.get(name), viewOf)
  return { ...description, ...progress, ...made, isReadWhole: false }
}

/** Writes the rows of a load. Returns what is known of the stream afterwards. */
async function commitLoad(
  landing: Landing,
  present: Known,
  load: Load,
  moment: string,
  log: Log,
): Promise<Known> {
  const { stream, completeGeneration, complete, left } = load
  const table = { ...present.table, columns: load.columns }
  await alter(landing, present, table)
  // Rows of generation 0 may have been written with other settings, which kept other values.
  const isCompared = present.generation > 0 && present.generation < (completeGeneration ?? 0)
  const before = isCompared ? await valuesIn(landing, table) : undefined
  let progress: Progress = present
  let { members } = present
  for (const part of partsOf(load)) {
    const { added, ...done } = await loadRows(landing, table, part, progress, moment)
    progress = done
    if (added === undefined) continue
    const columns = [...new Set(part.files.flatMap((file) => file.columns))]
    members = [...members, ...(await newMembers(landing, { ...present, members }, columns, added))]
  }
  if (left !== undefined) progress = await withoutDays(landing, table, progress, left)
  if (before !== undefined) warnOfEmptied(before, await valuesIn(landing, table), stream, log)
  const isWhole = completeGeneration !== undefined
  const isReadWhole = present.isReadWhole || isWhole
  const isRead = isWhole || load.isKept === true
  // No history has values of other settings: it does not begin with such rows that a read has kept.
  const mayBegin = isWhole || present.generation !== 0 || table.history?.hasBegun === true
  const isOver = isRead || complete !== undefined
  const history =
    isOver && mayBegin ? await noteRead(landing, table, isRead, moment) : table.history
  const now = {
    ...present,
    ...progress,
    table: { ...table, history },
    members,
    isReadWhole,
    made: [],
  }
  const isSame =
    members.length === present.members.length &&
    table.columns.length === present.table.columns.length
  return isSame ? now : { ...now, ...(await createViews(landing, now)) }
}

/** Writes into the account what a commit has changed: the states, the progress and the views of its streams. Returns warnings. */
async function noteCommit(
  landing: Landing,
  loads: readonly Load[],
  known: ReadonlyMap<string, Known>,
): Promise<readonly IdentifiedMessage[]> {
  const states = new Map<string, string | null>()
  const progress: string[] = []
  const made: MadeViews[] = []
  for (const { stream, state, complete } of loads) {
    const now = known.get(stream) as Known
    if (state !== undefined) states.set(stream, state)
    progress.push(committed(landing.sql, stream, now, complete))
    made.push(...now.made)
  }
  await storeStates(landing, states)
  await landing.run(progress.join(';\n'))
  return storeViews(landing, made)
}

/** Removes the rows of days that are no longer kept, also those that wait. */
async function withoutDays(
  landing: Landing,
  table: Table,
  progress: Progress,
  left: DaysLeft,
): Promise<Progress> {
  const rows = await removeBefore(landing, table, left)
  if (progress.next === undefined) return { ...progress, rows }
  await assertAllWait(landing, table, progress.next.rows)
  const waiting = await removeBefore(landing, nextOf(landing.sql, table), left)
  return { ...progress, rows, next: { ...progress.next, rows: waiting } }
}

/** Drops the variants of a table that have no values. */
async function dropEmptyVariants(landing: Landing, present: Known): Promise<void> {
  const { columns, name } = present.table
  const variants = columns.filter(({ variantOf }) => variantOf !== undefined)
  // Rows that wait may have values in them.
  if (variants.length === 0 || present.next !== undefined) return
  if (!(await landing.canDropColumns(name))) return
  const counts = variants.map((column) => `count(source.${quoted(column.name)})`)
  const select = placesOf(present.table).map(
    (place) => `SELECT ${counts.join(', ')} FROM ${place} AS source`,
  )
  const found = await landing.query(select.join(' UNION ALL '))
  const empty = new Set(variants.filter((_, i) => found.every((row) => row[i] === '0')))
  if (empty.size === 0) return
  const table = { ...present.table, columns: columns.filter((column) => !empty.has(column)) }
  await alter(landing, present, table)
  const { made } = await createViews(landing, { ...present, table })
  await storeViews(landing, made)
}

/** Gives the tables of a stream the columns that they have from now on. */
async function alter(landing: Landing, { table, next }: Known, now: Table): Promise<void> {
  const { sql } = landing
  const places = [...placesOf(now), ...(next === undefined ? [] : [nextOf(sql, now).place])]
  const statements = [
    ...places.flatMap((place) => alterTable(sql, place, table.columns, now.columns)),
    ...storeColumns(sql, now, table.columns),
  ]
  if (statements.length > 0) await landing.run(statements.join(';\n'))
}

/** The tables that have the columns of a stream for good. */
function placesOf({ place, history }: Table): string[] {
  return [place, ...(history === undefined ? [] : [history.place])]
}
