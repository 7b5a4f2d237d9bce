import { createHash } from 'node:crypto'
import { type IdentifiedMessage, warningOf } from '../ground/message-ids.ts'
import { type Description, describe, type ValuePlace } from './flat-view.ts'
import type { Dialect, FlatView, Landing, ViewDigests } from './landing.ts'

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
  /** Those that could not be made, and stay as they were. */
  readonly kept: ReadonlySet<FlatView>
}

/**
 * Creates the views and the comments, unless those of `stored` are there. Returns the names of the views' columns, and
 * what `storeViews` has to store at the end of the transaction.
 */
export async function createViews(
  landing: Landing,
  description: Description,
  stored?: StoredViews,
  digestOf?: ViewDigests,
): Promise<{ readonly names: Description['names']; readonly made: readonly MadeViews[] }> {
  const { schemas, literal } = landing.sql
  const { views, names } = describe(landing.sql, description)
  const statements = createHash('sha256')
    .update(views.flatMap(({ query, comments }) => [query, ...comments]).join('\n'))
    .digest('hex')
  const isSame = statements === stored?.statements
  const there = digestOf === undefined ? '' : digestsOf(views, digestOf)
  if (isSame && stored?.made === there) return { names, made: [] }
  const kept = new Set<FlatView>()
  for (const view of views) if (!(await landing.replaceView(view))) kept.add(view)
  const stream = description.spec.name
  const places = [...names]
    .filter(([place]) => !description.names.has(place))
    .map((place) => [stream, ...place].map(literal).join(', '))
  if (places.length > 0)
    await landing.run(`INSERT INTO ${schemas.account}.places VALUES (${places.join('), (')})`)
  const replaced = isSame ? there : undefined
  return { names, made: [{ stream, views, statements, replaced, kept }] }
}

/**
 * Stores the digests of views that were made, which engines show by one query for all views; without that of a kept one, which
 * the next sync tries to make again. Returns the warnings.
 */
export async function storeViews(
  landing: Landing,
  made: readonly MadeViews[],
): Promise<readonly IdentifiedMessage[]> {
  if (made.length === 0) return []
  const { schemas, literal } = landing.sql
  const digestOf = await landing.views(made.map(({ stream }) => stream))
  const values = made.map(({ stream, statements, views, replaced, kept }) => {
    // A view that was kept in spite of new statements is no other one than they had made.
    const done = kept.size > 0 && replaced === undefined ? '' : statements
    const digests = views.map((view) => (kept.has(view) ? '' : digestOf(view.schema, view.name)))
    return [stream, done, digests.join()].map(literal).join(', ')
  })
  const streams = made.map(({ stream }) => literal(stream))
  await landing.run(
    `DELETE FROM ${schemas.account}.described WHERE stream IN (${streams.join(', ')});
     INSERT INTO ${schemas.account}.described VALUES (${values.join('), (')})`,
  )
  return made.flatMap(({ stream, views, replaced, kept }) => {
    // Another version of an engine may only write the same view differently.
    const isChanged = replaced !== undefined && replaced !== digestsOf(views, digestOf)
    return [
      ...(isChanged ? [warningOfView(landing.sql, stream)] : []),
      ...[...kept].map(({ schema, name }) => warningOfKept(`${schema}.${name}`)),
    ]
  })
}

/** The message about a view that somebody else has changed. */
function warningOfView({ schemas: { flat } }: Dialect, name: string): IdentifiedMessage {
  return warningOf(
    'table-changed',
    `${name}: the view ${flat}.${name} was changed or dropped, though no sync has done that; it is made again. Give a view of your own another name.`,
  )
}

/** The message about a view that could not be made. */
function warningOfKept(view: string): IdentifiedMessage {
  return warningOf(
    'view-not-made',
    `The view ${view} cannot get the columns that it should have, because views or other objects of yours depend on it as it is. Drop them; the next sync makes it.`,
  )
}

function digestsOf(views: readonly FlatView[], digestOf: ViewDigests): string {
  return views.map(({ schema, name }) => digestOf(schema, name)).join()
}
