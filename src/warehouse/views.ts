import { createHash } from 'node:crypto'
import { type Description, describe, type ValuePlace } from './flat-view.ts'
import type { Dialect, FlatView, Landing, ViewDigests } from './landing.ts'

/** The account of the views, so that only those are made whose statements have changed, or that others have changed. */
export function viewTables({ schemas: { account } }: Dialect): string[] {
  return [
    `CREATE TABLE IF NOT EXISTS ${account}.described (stream VARCHAR, digest VARCHAR, view VARCHAR)`,
    `CREATE TABLE IF NOT EXISTS ${account}.places (stream VARCHAR, place VARCHAR, name VARCHAR)`,
  ]
}

/** The views of a stream that were made, by digests. */
export interface StoredViews {
  /** Of the statements. */
  readonly statements: string
  /** Of the views that they made. */
  readonly made: string
}

export async function storedViews({ sql, query }: Landing): Promise<Map<string, StoredViews>> {
  const rows = await query(`SELECT stream, digest, view FROM ${sql.schemas.account}.described`)
  return new Map(
    rows.map(([stream, digest, view]) => [
      String(stream),
      { statements: String(digest), made: String(view) },
    ]),
  )
}

/** The names of the columns of the views, by streams. */
export async function storedNames({
  sql,
  query,
}: Landing): Promise<Map<string, Map<ValuePlace, string>>> {
  const names = new Map<string, Map<ValuePlace, string>>()
  const rows = await query(`SELECT stream, place, name FROM ${sql.schemas.account}.places`)
  for (const [stream = '', place = '', name = ''] of rows.map((row) => row.map(String)))
    names.set(stream, (names.get(stream) ?? new Map()).set(place, name))
  return names
}

/** Views of a stream that were made in this transaction. */
export interface MadeViews {
  readonly stream: string
  readonly views: readonly FlatView[]
  /** The digest of their statements. */
  readonly statements: string
  /** The digests of the views that were there, if the same statements had made others. */
  readonly replaced: string | undefined
}

/**
 * Creates the views and the comments, unless those of `stored` are there. Returns the names of the views' columns, and
 * what `storeViews` has to store at the end of the transaction.
 */
export async function createViews(
  landing: Landing,
  description: Description,
  stored?: StoredViews,
  present?: ViewDigests,
): Promise<{ readonly names: Description['names']; readonly made: readonly MadeViews[] }> {
  const { schemas, literal } = landing.sql
  const { views, names } = describe(landing.sql, description)
  const statements = createHash('sha256')
    .update(views.flatMap(({ query, comments }) => [query, ...comments]).join('\n'))
    .digest('hex')
  const isSame = statements === stored?.statements
  const there = present === undefined ? '' : digestsOf(views, present)
  if (isSame && stored?.made === there) return { names, made: [] }
  for (const view of views) await landing.replaceView(view)
  const stream = description.spec.name
  const places = [...names]
    .filter(([place]) => !description.names.has(place))
    .map((place) => [stream, ...place].map(literal).join(', '))
  if (places.length > 0)
    await landing.run(`INSERT INTO ${schemas.account}.places VALUES (${places.join('), (')})`)
  return { names, made: [{ stream, views, statements, replaced: isSame ? there : undefined }] }
}

/**
 * Stores the digests of views that were made, which engines show by one query for all views. Returns the streams of which
 * somebody else had changed or dropped a view; another version of an engine may only write the same view differently.
 */
export async function storeViews(
  landing: Landing,
  made: readonly MadeViews[],
): Promise<readonly string[]> {
  if (made.length === 0) return []
  const { schemas, literal } = landing.sql
  const present = await landing.views()
  const now = made.map((one) => ({ ...one, digests: digestsOf(one.views, present) }))
  const values = now.map(({ stream, statements, digests }) =>
    [stream, statements, digests].map(literal).join(', '),
  )
  const streams = now.map(({ stream }) => literal(stream))
  await landing.run(
    `DELETE FROM ${schemas.account}.described WHERE stream IN (${streams.join(', ')});
     INSERT INTO ${schemas.account}.described VALUES (${values.join('), (')})`,
  )
  return now
    .filter(({ replaced, digests }) => replaced !== undefined && replaced !== digests)
    .map(({ stream }) => stream)
}

function digestsOf(views: readonly FlatView[], present: ViewDigests): string {
  return views.map(({ schema, name }) => present(schema, name)).join()
}
