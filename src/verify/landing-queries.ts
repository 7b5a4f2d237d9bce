/** The dialects of SQL in which the rows of a landed table can be asked for as JSON lines. */
export const DIALECTS = ['bigquery', 'databricks', 'duckdb', 'postgres', 'snowflake'] as const

/** One of the dialects. */
export type Dialect = (typeof DIALECTS)[number]

/** The line of a row of the table `t`, with every column that it has: `{"stream": "people", "row": {...}}`. */
const LINE: Readonly<Record<Dialect, (stream: string) => string>> = {
  bigquery: (stream) => `TO_JSON_STRING(STRUCT('${stream}' AS stream, t AS \`row\`))`,
  databricks: (stream) =>
    `to_json(named_struct('stream', '${stream}', 'row', struct(t.*)), map('ignoreNullFields', 'false'))`,
  duckdb: (stream) => `CAST(json_object('stream', '${stream}', 'row', to_json(t)) AS VARCHAR)`,
  postgres: (stream) => `json_build_object('stream', '${stream}', 'row', to_json(t))::text`,
  snowflake: (stream) =>
    `TO_JSON(OBJECT_CONSTRUCT_KEEP_NULL('stream', '${stream}', 'row', OBJECT_CONSTRUCT_KEEP_NULL(t.*)))`,
}

/**
 * A query for each stream that prints its rows as JSON lines, and a line without a row first, so that a table without
 * rows is told from one that was not asked. The tables are those of the present schema.
 */
export function landingQueries(streams: readonly string[], dialect: Dialect): string {
  return streams
    .map(
      (stream) =>
        `SELECT '{"stream":"${stream}"}' AS line UNION ALL SELECT ${LINE[dialect](stream)} FROM ${stream} AS t;`,
    )
    .join('\n')
}
