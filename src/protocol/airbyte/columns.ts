/** The columns that we add to every record. */
export const DELETED_AT = '_ab_cdc_deleted_at'
export const GENERATION = '_generation'

/** Their schemas. Destinations understand the first as "this row is deleted". */
export const columnSchemas = {
  [DELETED_AT]: {
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
