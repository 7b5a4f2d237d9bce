import type { JsonSchema, StreamSpec } from '../records/stream-spec.ts'
import type { Stamp } from './stream-output.ts'

// The columns that are added to records.
export const CDC_DELETED_AT = '_ab_cdc_deleted_at'
export const GENERATION = '_generation'
export const CDC_CURSOR = '_ab_cdc_cursor'

/** Seconds since 1970 pass what 32 bits with a sign hold in 2038; a larger generation is no such time. */
export const MOST_GENERATION = 2 ** 32

// Some targets make columns of 32 bits unless they are told how large a number may be.
const cursor = {
  type: ['integer', 'null'],
  minimum: 0,
  maximum: Number.MAX_SAFE_INTEGER,
  description:
    'The order in which records were sent: of two records of one row the one with the higher cursor counts. It rises from sync to sync.',
} as const

const generation = { type: ['integer', 'null'], minimum: 0, maximum: MOST_GENERATION } as const

/** Destinations understand the first as "this row is deleted". */
const AIRBYTE_COLUMNS = {
  [CDC_DELETED_AT]: {
    type: ['string', 'null'],
    format: 'date-time',
    airbyte_type: 'timestamp_with_timezone',
    description: 'When the deletion of the record was noticed; null while it lives.',
  },
  [GENERATION]: {
    ...generation,
    description:
      'Which complete reading of the stream the record was sent by, in seconds since 1970. It rises each time the stream is read from the beginning.',
  },
  [CDC_CURSOR]: cursor,
} as const

export const SDC_DELETED_AT = '_sdc_deleted_at'

/** The first is the name that Singer's targets know for deleted rows. */
const SINGER_COLUMNS = {
  [SDC_DELETED_AT]: {
    type: ['string', 'null'],
    format: 'date-time',
    description: 'When the deletion of the record was noticed; null while it lives.',
  },
  [GENERATION]: {
    ...generation,
    description:
      'Which complete reading of the stream the record was sent by, in seconds since 1970: the version of its RECORD message. It rises each time the stream is read from the beginning.',
  },
  [CDC_CURSOR]: cursor,
} as const

type Columns = Readonly<Record<string, JsonSchema>>

/** The columns that records of a stream get over the Airbyte protocol, with their schemas. */
export function airbyteColumns(spec: StreamSpec): Columns {
  return ofStream(spec, CDC_DELETED_AT, AIRBYTE_COLUMNS as unknown as Columns)
}

/** The columns that records of a stream get over Singer, with their schemas. */
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

/** What ends the JSON of a record: its own brace, behind the columns that are added to it. */
export interface RecordEnds {
  readonly live: string
  readonly deleted: string
}

/** The ends of records of a stream; `deletedAt` is the column that tells of deletes. */
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

/** The columns by which Airbyte and Singer say that a row is gone. */
const DELETED_AT: readonly string[] = [CDC_DELETED_AT, SDC_DELETED_AT]
/** The column of tables that somebody made by hand. */
const DELETED = '_deleted'

/** What a record says of its object: that it lives or is gone, or, by a fault, nothing that can be understood. */
export type Life = { readonly isDeleted: boolean } | { readonly fault: string }

/**
 * Whether a record says that its object is gone, in the words of Airbyte or of Singer: a table that one of
 * them loaded may be written by the other. Databases fold the case of columns, and have their own words for true
 * and false; what is neither these nor a time is a fault, because either guess could do harm.
 */
export function lifeOf(data: Readonly<Record<string, unknown>>): Life {
  let isDeleted = false
  for (const [column, value] of Object.entries(data)) {
    const name = column.toLowerCase()
    if (name !== DELETED && !DELETED_AT.includes(name)) continue
    const mark = markOf(value)
    if (mark === undefined)
      return {
        fault: `The ${column} is neither true nor false nor a time, so that it is not clear whether the record is to be deleted.`,
      }
    isDeleted ||= mark
  }
  return { isDeleted }
}

/** ISO 8601 and what databases print of a time. */
const TIME =
  /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?: ?(?:Z|UTC|[+-]\d\d(?::?\d\d)?))?)?$/i
/** Smaller numbers are no time since 1970, whatever their unit. */
const FIRST_TIME = 1_000_000_000

/** True for a mark of deletion, false for none, undefined for what is not clear. */
function markOf(value: unknown): boolean | undefined {
  switch (typeof value === 'string' ? value.toLowerCase() : value) {
    case undefined:
    case null:
    case '':
    case false:
    case 'false':
    case 'f':
    case 0:
      return false
    case true:
    case 'true':
    case 't':
    case 1:
      return true
    default:
      return isTime(value) || undefined
  }
}

function isTime(value: unknown): boolean {
  if (typeof value === 'number') return value >= FIRST_TIME
  return typeof value === 'string' && TIME.test(value.trim())
}
