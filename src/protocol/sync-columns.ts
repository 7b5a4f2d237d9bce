/** The columns that we add to every record. */
export const CDC_DELETED_AT = '_ab_cdc_deleted_at'
export const GENERATION = '_generation'

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
} as const

/** The columns by which Airbyte and Singer say that a row is gone. */
const DELETED_AT: readonly string[] = [CDC_DELETED_AT, SDC_DELETED_AT]
/** The column of tables that somebody made by hand. */
const DELETED = '_deleted'

/**
 * Whether a record says that its object is gone, in the words of Airbyte or of Singer: a table that one of
 * them loaded may be written by the other. Databases fold the case of columns.
 */
export function isDeleted(data: Readonly<Record<string, unknown>>): boolean {
  return Object.entries(data).some(([column, value]) => {
    if (!column.startsWith('_')) return false
    const name = column.toLowerCase()
    return name === DELETED ? value === true : DELETED_AT.includes(name) && isSet(value)
  })
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null
}
