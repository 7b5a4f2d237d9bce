import { privacyClassOf } from '../privacy/privacy-settings.ts'
import { PEOPLE, personStreams, REFERENCES } from '../streams/person-paths.ts'
import { readStreamSchema } from '../streams/streams.ts'
import { quoted } from '../warehouse/sql.ts'
import { leadsTo } from './conditions.ts'
import type { PersonDialect } from './dialects.ts'

/** What no statement of one table can do, by database. */
const ONLY_YOU: Readonly<Record<PersonDialect, readonly string[]>> = {
  postgres: [
    'Airbyte: DROP or clean the raw tables (schema airbyte_internal), which have every version of a row; the state of the connection has ids of records.',
    'Then VACUUM (FULL): a plain VACUUM leaves the space of deleted rows, and their bytes, in the files. The write-ahead log and its archive keep them until they are recycled.',
  ],
  duckdb: [
    'A file of protime sync: use protime person erase, which also changes the states and writes the file anew.',
    'Another file: ATTACH a new file and COPY FROM DATABASE into it, because free blocks of this one keep the bytes of deleted rows.',
  ],
}
const ANYWHERE = [
  'dbt: run dbt build, also for snapshots and the models of others.',
  'Backups, replicas, exports, extracts of BI tools, logs at the level debug.',
]

/**
 * Statements that show and delete the rows of a person in the tables of these streams, in the current schema: for warehouses that
 * others fill. What they cannot do is in comments.
 */
export function personSql(
  id: string,
  dialect: PersonDialect,
  streams: ReadonlySet<string>,
): string {
  const tables = [...personStreams()]
    .filter(([stream]) => streams.has(stream))
    .map(([stream, paths]) => {
      const isHere = paths.map((path) => leadsTo(id, path, dialect)).join(' OR ')
      return `FROM ${stream} AS source WHERE ${isHere};`
    })
  const texts = [...streams].flatMap((stream) =>
    freeTexts(stream).map(
      (column) =>
        `-- SELECT * FROM ${stream} AS source WHERE source.${quoted(column)} ILIKE '%NAME%';`,
    ),
  )
  return [
    '-- What the tables have about the person. Leave out tables that you have not loaded.',
    ...tables.map((rows) => `SELECT source.* ${rows}`),
    '-- Texts that can name the person: judge each of them.',
    ...texts,
    '-- Erase. First delete the person in the service, and sync: otherwise the next sync may bring the rows back.',
    'BEGIN;',
    ...tables.map((rows) => `DELETE ${rows}`),
    'COMMIT;',
    '-- What only you can do:',
    ...[...ONLY_YOU[dialect], ...ANYWHERE].map((sentence) => `-- * ${sentence}`),
  ].join('\n')
}

/** The columns with texts that people write, which can name anybody. */
function freeTexts(stream: string): string[] {
  if (personNames.has(stream)) return []
  return Object.entries(readStreamSchema(stream).properties).flatMap(([name, field]) =>
    privacyClassOf(field) === 'identifying' && [field['type']].flat().includes('string')
      ? [name]
      : [],
  )
}

/** Streams whose texts are about the one person to whom the row leads. */
const personNames: ReadonlySet<string> = new Set([PEOPLE, REFERENCES])
