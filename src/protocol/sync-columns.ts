import { LATEST_SECONDS } from '../ground/days.ts'
import type { JsonSchema, StreamSpec } from '../records/stream-spec.ts'
import type { Stamp } from './connector.ts'

// The columns that the connector adds to records.
export const CDC_DELETED_AT = '_ab_cdc_deleted_at'
export const GENERATION = '_generation'
export const CDC_CURSOR = '_ab_cdc_cursor'

/** The limit of a generation. Generations are seconds since 1970, which exceed a signed 32-bit integer in 2038. */
export const MOST_GENERATION = LATEST_SECONDS

// Some targets create 32-bit columns unless the schema states the maximum.
const cursor = {
  type: ['integer', 'null'],
  minimum: 0,
  maximum: Number.MAX_SAFE_INTEGER,
  description:
    'The order in which records were sent. Of several records of a row, the one with the highest cursor is valid. It increases from sync to sync.',
} as const

const generation = { type: ['integer', 'null'], minimum: 0, maximum: MOST_GENERATION } as const

/** Destinations recognize `_ab_cdc_deleted_at` as the mark of a deleted row. */
const AIRBYTE_COLUMNS = {
  [CDC_DELETED_AT]: {
    type: ['string', 'null'],
    format: 'date-time',
    airbyte_type: 'timestamp_with_timezone',
    description:
      'When the connector noticed that the record was deleted; null if it was not deleted.',
  },
  [GENERATION]: {
    ...generation,
    description:
      'The generation of the record: the complete read of the stream that it belongs to, in seconds since 1970. It increases each time the stream is read from the beginning.',
  },
  [CDC_CURSOR]: cursor,
} as const

export const SDC_DELETED_AT = '_sdc_deleted_at'

/** Singer targets recognize `_sdc_deleted_at` as the mark of a deleted row. */
const SINGER_COLUMNS = {
  [SDC_DELETED_AT]: {
    type: ['string', 'null'],
    format: 'date-time',
    description:
      'When the connector noticed that the record was deleted; null if it was not deleted.',
  },
  [GENERATION]: {
    ...generation,
    description:
      'The generation of the record: the complete read of the stream that it belongs to, in seconds since 1970. It is the version of the RECORD message, and increases each time the stream is read from the beginning.',
  },
  [CDC_CURSOR]: cursor,
} as const

type Columns = Readonly<Record<string, JsonSchema>>

/** The columns that the Airbyte protocol adds to records of a stream, with their schemas. */
export function airbyteColumns(spec: StreamSpec): Columns {
  return ofStream(spec, CDC_DELETED_AT, AIRBYTE_COLUMNS as unknown as Columns)
}

/** The columns that Singer adds to records of a stream, with their schemas. */
export function singerColumns(spec: StreamSpec): Columns {
  return ofStream(spec, SDC_DELETED_AT, SINGER_COLUMNS as unknown as Columns)
}

function ofStream(
  { isIncremental, hasDeletes, hasGenerations }: StreamSpec,
  deletedAt: string,
  columns: Columns,
): Columns {
  const isOf = new Map([
    [deletedAt, hasDeletes],
    [GENERATION, hasGenerations],
    [CDC_CURSOR, isIncremental],
  ])
  return Object.fromEntries(Object.entries(columns).filter(([name]) => isOf.get(name)))
}

/** The end of a record's JSON: the added columns and the closing brace. */
export interface RecordEnds {
  readonly live: string
  readonly deleted: string
}

/** The ends of live and deleted records of a stream; `deletedAt` is the column that marks deletions. */
export function recordEnds(
  { isIncremental, hasDeletes, hasGenerations }: StreamSpec,
  deletedAt: string,
  { generation, cursor, now }: Stamp,
): RecordEnds {
  const end = `${hasGenerations ? `,"${GENERATION}":${generation}` : ''}${
    isIncremental ? `,"${CDC_CURSOR}":${cursor}` : ''
  }}`
  if (!hasDeletes) return { live: end, deleted: end }
  return {
    live: `,"${deletedAt}":null${end}`,
    deleted: `,"${deletedAt}":"${now.toISOString()}"${end}`,
  }
}

/** The columns by which Airbyte and Singer mark deleted rows. */
const DELETED_AT: readonly string[] = [CDC_DELETED_AT, SDC_DELETED_AT]
/** The column of tables that were made by hand. */
const DELETED = '_deleted'

/** Whether a record deletes its object, or why that is unclear. */
export type Deletion = { readonly isDeleted: boolean } | { readonly fault: string }

/**
 * Reads from a record whether its object is deleted, by the columns of Airbyte or Singer: a table that one of them
 * loaded may be written by the other. Databases change the case of column names and have their own words for true and
 * false. A value that is neither a boolean nor a time is a fault, because guessing wrong could do harm.
 */
export function deletionOf(data: Readonly<Record<string, unknown>>): Deletion {
  let isDeleted = false
  for (const [column, value] of Object.entries(data)) {
    const name = column.toLowerCase()
    if (name !== DELETED && !DELETED_AT.includes(name)) continue
    const mark = markOf(value)
    if (mark === undefined)
      return {
        fault: `The ${column} is neither true nor false nor a time, so it is unclear whether the record should be deleted.`,
      }
    isDeleted ||= mark
  }
  return { isDeleted }
}

/** ISO 8601, and the forms of a time that databases print. */
const TIME =
  /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?: ?(?:Z|UTC|[+-]\d\d(?::?\d\d)?))?)?$/i
/** Smaller numbers are no time since 1970 in any unit. */
const FIRST_TIME = 1_000_000_000

/** True for a mark of deletion, false for none, undefined if it is unclear. */
function markOf(value: unknown): boolean | undefined {
  switch (typeof value === 'string' ? value.toLowerCase() : value) {
    case undefined:
    case null:
    case '':
    case false:
    case 'false':
    case 'f':
    case 0:
    case '0':
      return false
    case true:
    case 'true':
    case 't':
    case 1:
    // All values of a CSV table are texts.
    case '1':
      return true
    default:
      return isTime(value) || undefined
  }
}

function isTime(value: unknown): boolean {
  if (typeof value === 'number') return value >= FIRST_TIME
  // Microseconds have more digits than a number keeps.
  return typeof value === 'string' && (TIME.test(value.trim()) || /^\d{16,}$/.test(value))
}
