import { isDeepStrictEqual } from 'node:util'
import type { Message, SingerMessage, SingerRow } from '../../src/protocol/acceptance/messages.ts'

type Row = Readonly<Record<string, unknown>>

/** How a destination decides which of several records of one row counts. */
export type Rule =
  /** Airbyte, append + dedup: the highest cursor. */
  | 'highest-cursor'
  /** PyAirbyte and Singer's targets: the one that came last. */
  | 'last-write'

/** A destination: takes messages and answers with the rows that live. */
export interface Warehouse {
  load(messages: readonly Pick<Partial<Message>, 'record'>[]): void
  /** Drops the rows of a stream that are of an older version than this one. */
  activate(stream: string, version: number): void
  /** Live rows without the connector's own columns, by key. */
  rows(stream: string): Map<string, Row>
  /** Drops all rows of a stream but those with these keys. */
  truncate(stream: string, kept: ReadonlySet<string>): void
  /** Whether a record of this row with this cursor would change nothing. */
  ignores(stream: string, key: string, cursor: number): boolean
  /** An independent copy, to go back to. */
  copy(): Warehouse
}

const OWN_COLUMNS = new Set(['_ab_cdc_deleted_at', '_generation', '_ab_cdc_cursor'])

export function createWarehouse(
  rule: Rule,
  tables = new Map<string, Map<string, Row>>(),
): Warehouse {
  return {
    load(messages) {
      for (const { record } of messages) {
        if (record !== undefined) put(tableOf(record.stream), record.data)
      }
    },
    activate(stream, version) {
      const table = tableOf(stream)
      for (const [key, row] of table) if (Number(row['_generation']) < version) table.delete(key)
    },
    rows(stream) {
      const live = [...tableOf(stream)].filter(([, row]) => row['_ab_cdc_deleted_at'] === null)
      return new Map(live.map(([key, row]) => [key, withoutOwnColumns(row)]))
    },
    truncate(stream, kept) {
      const table = tableOf(stream)
      for (const key of table.keys()) if (!kept.has(key)) table.delete(key)
    },
    ignores: (stream, key, cursor) => isOlder(tableOf(stream).get(key), cursor),
    copy: () =>
      createWarehouse(rule, new Map([...tables].map(([name, rows]) => [name, new Map(rows)]))),
  }

  function tableOf(stream: string): Map<string, Row> {
    let table = tables.get(stream)
    if (table === undefined) {
      table = new Map()
      tables.set(stream, table)
    }
    return table
  }

  function put(table: Map<string, Row>, row: Row): void {
    const key = keyOf(row)
    if (!isOlder(table.get(key), cursorOf(row))) table.set(key, row)
  }

  function isOlder(present: Row | undefined, cursor: number): boolean {
    return rule === 'highest-cursor' && present !== undefined && cursorOf(present) > cursor
  }
}

/** The primary key as text; external references and the inventory are the streams without an id. */
export function keyOf(row: Row): string {
  if (row['part'] !== undefined) return JSON.stringify([row['stream'], row['part']])
  return JSON.stringify(row['id'] ?? [row['collection'], row['name'], row['value']])
}

/**
 * What a warehouse's rows and the service's records have not in common, one sentence a row and at
 * most ten: a diff of whole tables would take a test longer than the sync.
 */
export function differences(
  stream: string,
  rows: ReadonlyMap<string, Row>,
  truth: readonly Row[],
): string[] {
  const found: string[] = []
  const left = new Map(rows)
  for (const record of truth) {
    const key = keyOf(record)
    const row = left.get(key)
    left.delete(key)
    if (row === undefined) found.push(`${stream} ${key} is not in the warehouse`)
    else if (!isDeepStrictEqual(row, record)) {
      found.push(`${stream} ${key} is ${JSON.stringify(row)} instead of ${JSON.stringify(record)}`)
    }
  }
  for (const key of left.keys())
    found.push(`${stream} ${key} is in the warehouse and not in the service`)
  return found.slice(0, 10)
}

function cursorOf(row: Row): number {
  return Number(row['_ab_cdc_cursor'])
}

function withoutOwnColumns(row: Row): Row {
  return Object.fromEntries(Object.entries(row).filter(([name]) => !OWN_COLUMNS.has(name)))
}

/** A target: takes messages and answers with the rows that live. */
export interface SingerWarehouse {
  load(messages: readonly SingerMessage[]): void
  /** Live rows without the columns that the tap adds, by key. */
  rows(stream: string): Map<string, SingerRow>
}

interface Stored {
  readonly row: SingerRow
  readonly version: number | undefined
}

/**
 * A target that upserts by key, the last record counts. The one that activates versions deletes all
 * rows of older versions and those without one, as target-postgres does; the other knows tombstones
 * only, as target-duckdb does.
 */
export function createSingerWarehouse(activates: boolean): SingerWarehouse {
  const tables = new Map<string, Map<string, Stored>>()
  return {
    load(messages) {
      for (const message of messages) {
        if (message.type === 'RECORD') {
          const { record, version } = message
          tableOf(message.stream).set(keyOf(record), { row: record, version })
        }
        if (message.type === 'ACTIVATE_VERSION' && activates) activate(message)
      }
    },
    rows(stream) {
      const live = [...tableOf(stream)].filter(([, { row }]) => row['_sdc_deleted_at'] === null)
      return new Map(live.map(([key, { row }]) => [key, withoutSingerColumns(row)]))
    },
  }

  function tableOf(stream: string): Map<string, Stored> {
    const table = tables.get(stream) ?? new Map<string, Stored>()
    tables.set(stream, table)
    return table
  }

  function activate({ stream, version }: { stream: string; version: number }): void {
    const table = tableOf(stream)
    for (const [key, stored] of table) {
      if (stored.version === undefined || stored.version < version) table.delete(key)
    }
  }
}

function withoutSingerColumns(row: SingerRow): SingerRow {
  const { _sdc_deleted_at: _deletedAt, _generation, _ab_cdc_cursor: _cursor, ...rest } = row
  return rest
}
