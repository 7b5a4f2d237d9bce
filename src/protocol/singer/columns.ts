/** The columns that we add to every record. */
export const DELETED_AT = '_sdc_deleted_at'
export const GENERATION = '_generation'

/** Their schemas. The first is the name that Singer's targets know for deleted rows. */
export const columnSchemas = {
  [DELETED_AT]: {
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
