import { keyOf } from './airbyte-warehouse.ts'
import type { Row, SingerMessage } from './singer-messages.ts'

/** A target: takes messages and answers with the rows that live. */
export interface SingerWarehouse {
  load(messages: readonly SingerMessage[]): void
  /** Live rows without the columns that the tap adds, by key. */
  rows(stream: string): Map<string, Row>
}

interface Stored {
  readonly row: Row
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
      return new Map(live.map(([key, { row }]) => [key, withoutOwnColumns(row)]))
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

function withoutOwnColumns(row: Row): Row {
  const { _sdc_deleted_at: _deletedAt, _generation, ...rest } = row
  return rest
}
