import { ownedCollections, personStreams, REFERENCES } from '../streams/person-paths.ts'
import { leadsTo, leadsToOwned, type PersonDialect } from './conditions.ts'

/** What no statement of one table can do. */
const ONLY_YOU: Readonly<Record<PersonDialect, readonly string[]>> = {
  postgres: [
    'What rows were before, where protime sync keeps that: protime history forget --person ID, before these statements: it finds references of contracts by the contracts.',
    'Rows of an interrupted read: the same statements for the tables next_… in the schema that ends with _meta.',
    'Ids in the table states of that schema: a sync removes those of deleted rows, the last ones after eight later deletes in the stream.',
    'Texts of the service that name the person, in the column failure of its table streams: they stay until the stream succeeds.',
    'Counts in the column rows of that table, which protime status shows: subtract the deleted rows, or they stay too high until the stream is read from the beginning.',
    'Raw tables of Airbyte (schema airbyte_internal), which have every version of a row.',
    'VACUUM (FULL) of each table: a plain VACUUM leaves the bytes of deleted rows in the files. The write-ahead log and its archive keep them until they are recycled.',
  ],
  duckdb: [
    'COPY FROM DATABASE into a new file: free blocks of this one keep the bytes of deleted rows. For a file of protime sync, use protime person erase instead.',
  ],
}
/** What rows were before is in views, whose columns depend on the stream. */
const EARLIER: Readonly<Record<PersonDialect, readonly string[]>> = {
  postgres: [
    '-- Earlier versions, where protime sync keeps a history: select from the views of its schema that ends with _history, by person_id (people: id; external_references: internalreference).',
  ],
  duckdb: [],
}
const ANYWHERE = [
  "Texts that can name the person, such as comments in assignments: WHERE lower(comments) LIKE '%name%'.",
  'Models and snapshots of dbt, backups, replicas, extracts of BI tools, logs at the level debug.',
]

export interface PersonSqlChoice {
  readonly dialect: PersonDialect
  /** Whether the statements delete the rows; otherwise they only show them. */
  readonly isErase: boolean
}

/** Statements that show or delete the rows of a person in the tables of these streams, in the current schema. */
export function personSql(
  id: string,
  named: ReadonlySet<string>,
  { dialect, isErase }: PersonSqlChoice,
): string {
  const all = [...personStreams().keys()]
  const has = (stream: string) => named.has(stream)
  // Before the rows that they are of.
  const ofOwned = has(REFERENCES) ? ownedCollections().filter(({ stream }) => has(stream)) : []
  const tables = [
    ...ofOwned.map((owned) => [REFERENCES, leadsToOwned(id, owned, dialect)]),
    ...all.filter(has).map((stream) => [stream, leadsTo(id, stream, dialect)]),
  ].map(([stream, isHere]) => `FROM ${stream} AS source WHERE ${isHere};`)
  const left = all.filter((stream) => !has(stream))
  const head = ['-- In the current schema. Leave out tables that were not loaded.']
  if (left.length > 0)
    head.push(
      `-- Not in the configuration: ${left.join(', ')}. If one has a table, add it to streams.`,
    )
  if (!isErase)
    return [...head, ...tables.map((rows) => `SELECT source.* ${rows}`), ...EARLIER[dialect]].join(
      '\n',
    )
  return [
    ...head,
    '-- Only when the service no longer lists the person, or a sync brings the rows back.',
    'BEGIN;',
    ...tables.map((rows) => `DELETE ${rows}`),
    'COMMIT;',
    '-- What only you can do:',
    ...[...ONLY_YOU[dialect], ...ANYWHERE].map((sentence) => `-- * ${sentence}`),
  ].join('\n')
}
