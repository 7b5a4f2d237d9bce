/** The SQL dialects for which queries can be printed. */
export const DIALECTS = ['bigquery', 'databricks', 'duckdb', 'postgres', 'snowflake'] as const

/** One of the dialects. */
export type QueryDialect = (typeof DIALECTS)[number]

/**
 * The expression for one row of the table `t` as a line, with all of its columns: `{"stream": "people", "row":
 * {...}}`.
 */
const LINE: Readonly<Record<QueryDialect, (stream: string) => string>> = {
  bigquery: (stream) => `TO_JSON_STRING(STRUCT('${stream}' AS stream, t AS \`row\`))`,
  databricks: (stream) =>
    `to_json(named_struct('stream', '${stream}', 'row', struct(t.*)), map('ignoreNullFields', 'false'))`,
  duckdb: (stream) => `CAST(json_object('stream', '${stream}', 'row', to_json(t)) AS VARCHAR)`,
  postgres: (stream) => `json_build_object('stream', '${stream}', 'row', to_json(t))::text`,
  snowflake: (stream) =>
    `TO_JSON(OBJECT_CONSTRUCT_KEEP_NULL('stream', '${stream}', 'row', OBJECT_CONSTRUCT_KEEP_NULL(t.*)))`,
}

/**
 * One query per stream that returns its rows as JSON lines, after a first line without a row, so that an empty table
 * differs from one that was not queried. The tables are those of the current schema.
 */
export function landingQueries(streams: readonly string[], dialect: QueryDialect): string {
  return streams
    .map(
      (stream) =>
        `SELECT '{"stream":"${stream}"}' AS line UNION ALL SELECT ${LINE[dialect](stream)} FROM ${stream} AS t;`,
    )
    .join('\n')
}
