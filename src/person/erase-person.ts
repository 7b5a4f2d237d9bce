import { randomUUID } from 'node:crypto'
import { createReadStream } from 'node:fs'
import type { DuckDBConnection } from '@duckdb/node-api'
import { ConnectorError } from '../ground/errors.ts'
import { resolvedFile } from '../ground/private-file.ts'
import type { Key } from '../rows/id-set.ts'
import { INVENTORY } from '../streams/streams.ts'
import { committed, MARKED_TABLES } from '../warehouse/account.ts'
import { texts } from '../warehouse/duckdb.ts'
import { madeByOthers } from '../warehouse/others.ts'
import { type Changes, type RenewSettings, withRenewableFile } from '../warehouse/renew-file.ts'
import { literal } from '../warehouse/sql.ts'
import { withoutKeys } from './forget-keys.ts'
import {
  type FoundRow,
  isPersons,
  personNames,
  personRows,
  rowsToJudge,
  type StreamTable,
  streamTables,
} from './person-tables.ts'
import { type Asking, listingsOf } from './still-listed.ts'

export interface EraseSettings<Config> extends RenewSettings {
  readonly id: string
  readonly asking: Asking<Config>
  /** A keyed hash of the id; undefined without a key. */
  readonly code: string | undefined
  readonly version: string
  readonly now: Date
}

/** What was erased, without anything that says who the person was. */
export interface Receipt {
  readonly receipt: string
  readonly at: string
  readonly version: string
  /** Rows by stream. */
  readonly rows: Readonly<Record<string, number>>
  readonly copies: number
  /** Texts of others that may name the person: nothing of them was changed. */
  readonly toJudge: readonly {
    readonly stream: string
    readonly key: unknown
    readonly why: string
  }[]
  /** Names and numbers of the person that were searched in the bytes of the new files, and how many were found there. */
  readonly searched: number
  readonly found: number
  /** What no sync has created in the file: it was kept, and may have copies of rows. */
  readonly others: readonly string[]
  readonly result: 'erased' | 'to be judged' | 'nothing to erase'
  /** The keyed hash of the id, as the setting suppressed_people takes it. */
  readonly person?: string
}

/**
 * Erases a person from a file of `protime sync` and its copies: rows, ids in states, and the bytes of both, also those that syncs
 * have deleted before. Throws a config error while the service lists the person; then nothing has changed.
 */
export async function erasePerson<Config>(settings: EraseSettings<Config>): Promise<Receipt> {
  const { id, asking, code, version, now, ...files } = settings
  return withRenewableFile(files, async ({ connection, renew }) => {
    const listed = await listingsOf(id, asking)
    if (listed.length > 0) throw stillListed(listed, code)
    const tables = await streamTables(connection, id)
    const rows = await personRows(connection, tables)
    const names = await personNames(connection, tables, rows)
    const toJudge = await rowsToJudge(connection, tables, names)
    const others = await madeByOthers(connection)
    await renew(await changesFor(connection, tables, rows))
    const searched = names.filter(
      (name) => !name.isShared && Buffer.byteLength(name.text) >= LEAST_BYTES,
    )
    const found = new Set<string>()
    for (const path of [files.path, ...files.copies])
      for (const text of await textsIn(
        resolvedFile(path),
        searched.map(({ text }) => text),
      ))
        found.add(text)
    const isLeft = toJudge.length + found.size > 0
    return {
      receipt: randomUUID(),
      at: now.toISOString(),
      version,
      rows: countsOf(rows),
      copies: files.copies.length,
      toJudge: toJudge.map(({ stream, key, why }) => ({
        stream,
        key: key.length === 1 ? key[0] : key,
        why,
      })),
      searched: searched.length,
      found: found.size,
      others,
      result: rows.length === 0 ? 'nothing to erase' : isLeft ? 'to be judged' : 'erased',
      ...(code === undefined ? {} : { person: code }),
    }
  })
}

function countsOf(rows: readonly FoundRow[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { stream } of rows) counts[stream] = (counts[stream] ?? 0) + 1
  return counts
}

function stillListed(streams: readonly string[], code: string | undefined): ConnectorError {
  const how =
    code === undefined
      ? 'set privacy_key, and this message has the code that suppressed_people needs'
      : `add ${code} to suppressed_people in the configuration`
  return new ConnectorError(
    'config',
    'person-still-listed',
    `Nothing was erased: the service still lists the person in ${streams.join(' and ')}, so the next sync would bring the rows back. Delete the person and the references in the service first. If they have to stay there, ${how}.`,
  )
}

/** What the new file has otherwise: no rows of the person, no ids of them in states, and no counts with them. */
async function changesFor(
  connection: DuckDBConnection,
  tables: readonly StreamTable[],
  rows: readonly FoundRow[],
): Promise<Changes> {
  const streams = new Set(rows.map(({ stream }) => stream))
  const states = new Map<string, unknown>()
  for (const [stream = '', text = ''] of await texts(connection, STATES)) {
    const keys = rows.filter((row) => row.stream === stream).map(keyOf)
    const state: unknown = JSON.parse(text)
    const left = keys.length === 0 ? state : withoutKeys(state, keys)
    if (left !== undefined) states.set(stream, left)
  }
  const marked = new Set((await texts(connection, MARKED_TABLES)).map(([table]) => table))
  const omissions = tables
    .filter(({ stream }) => streams.has(stream))
    .map((table) => ({ table: table.table, condition: isPersons(table) }))
  // The next sync writes the counts of these streams anew.
  const counts = `source.stream IN (${[...streams, ''].map(literal).join(', ')})`
  return {
    omissions: [...omissions, { table: INVENTORY.stream, condition: counts }],
    states,
    statements: [...streams].map((stream) =>
      committed({ name: stream, keepsDeleted: marked.has(stream) }, undefined),
    ),
  }
}

const STATES = 'SELECT states.stream, states.state FROM _protime.states AS states'

/** The key of a row as a state has it. */
function keyOf({ key }: FoundRow): Key {
  const [first] = key
  if (key.length > 1) return JSON.stringify(key)
  return typeof first === 'number' ? first : JSON.stringify(first)
}

/** Shorter values occur in any file by chance. */
const LEAST_BYTES = 6

/** The texts that are in the bytes of a file. */
async function textsIn(path: string, wanted: readonly string[]): Promise<string[]> {
  const left = new Set(wanted)
  const overlap = Math.max(0, ...wanted.map((text) => Buffer.byteLength(text)))
  let end = Buffer.alloc(0)
  for await (const chunk of createReadStream(path, { highWaterMark: 4 * 1024 * 1024 })) {
    const bytes = Buffer.concat([end, chunk as Buffer])
    for (const text of left) if (bytes.includes(text)) left.delete(text)
    end = bytes.subarray(Math.max(0, bytes.length - overlap))
  }
  return wanted.filter((text) => !left.has(text))
}
