/** The columns that we add to every record. */
export const CDC_DELETED_AT = '_ab_cdc_deleted_at'
export const GENERATION = '_generation'
export const CDC_CURSOR = '_ab_cdc_cursor'

const cursor = {
  type: ['integer', 'null'],
  // Some targets make a column of 32 bits unless they are told.
  minimum: 0,
  maximum: Number.MAX_SAFE_INTEGER,
  description:
    'The order in which records were sent: of two records of one row the one with the higher cursor counts. It rises from sync to sync.',
} as const

/** Their schemas. Destinations understand the first as "this row is deleted". */
export const airbyteColumns = {
  [CDC_DELETED_AT]: {
    type: ['string', 'null'],
    format: 'date-time',
    airbyte_type: 'timestamp_with_timezone',
    description: 'When the deletion of the record was noticed; null while it lives.',
  },
  [GENERATION]: {
    type: ['integer', 'null'],
    description:
      'Which complete reading of the stream the record was sent by, in seconds since 1970. It rises each time the stream is read from the beginning.',
  },
  [CDC_CURSOR]: cursor,
} as const

/** The columns that we add to every record. */
export const SDC_DELETED_AT = '_sdc_deleted_at'

/** Their schemas. The first is the name that Singer's targets know for deleted rows. */
export const singerColumns = {
  [SDC_DELETED_AT]: {
    type: ['string', 'null'],
    format: 'date-time',
    description: 'When the deletion of the record was noticed; null while it lives.',
  },
  [GENERATION]: {
    type: ['integer', 'null'],
    description:
      'Which complete reading of the stream the record was sent by, in seconds since 1970: the version of its RECORD message. It rises each time the stream is read from the beginning.',
  },
  [CDC_CURSOR]: cursor,
} as const

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
