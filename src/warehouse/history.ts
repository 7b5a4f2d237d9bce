import { ConnectorError } from '../ground/errors.ts'
import { KNOWN_UNTIL } from './column.ts'
import type { Dialect, Landing } from './landing.ts'
import { closedName, closedPlace, type History, quoted, type Table } from './sql.ts'

/** How long closed versions are kept: an interval of SQL, or this. */
export const FOREVER = 'forever'

/** How long a landing keeps closed versions; undefined if it keeps none. Only reads. */
export async function historySpan(landing: Landing): Promise<string | undefined> {
  const { account } = landing.sql.schemas
  const [[span] = []] = await landing.query(`SELECT owner.history FROM ${account}.owner AS owner`)
  return span ?? undefined
}

/**
 * Throws a config error if a landing that is to be read anew has a history that may not be forgotten. It does not survive
 * that: nobody can give values of before the treatment of later settings.
 */
export function assertForgettable(path: string, span: string | undefined, isAllowed: boolean) {
  if (span === undefined || isAllowed) return
  throw new ConnectorError(
    'config',
    'history-would-end',
    `--rewrite would remove the history of ${path}: what rows were before cannot be read again. Add --forget-history to lose it; history then begins again.`,
  )
}

/**
 * Closed versions are kept from now on, for as long as before, or else for this long. Fails where no view of a history can be
 * made, before a sync needs one.
 */
export function keepHistory(
  { schemas: { account, history }, literal }: Dialect,
  span: string,
): string {
  return `DROP VIEW IF EXISTS ${history}._protime_none;
    UPDATE ${account}.owner SET history = coalesce(history, ${literal(span)})`
}

/** Closed versions are removed when they have ended this long ago. */
export function limitHistory({ schemas: { account }, literal }: Dialect, span: string): string {
  return `UPDATE ${account}.owner SET history = ${literal(span)}`
}

/** The streams whose histories have begun, each with the members of records that a complete read has had. */
export async function storedHistories(landing: Landing): Promise<Map<string, Set<string>>> {
  const { account } = landing.sql.schemas
  const begun = await landing.query(
    `SELECT known.stream FROM ${account}.streams AS known WHERE known.known_since IS NOT NULL`,
  )
  const members = new Map(begun.map(([stream]) => [String(stream), new Set<string>()]))
  const fields = await landing.query(
    `SELECT one.stream, one.property FROM ${account}.fields AS one`,
  )
  for (const [stream, property] of fields)
    members.get(String(stream))?.add(JSON.parse(String(property)) as string)
  return members
}

/**
 * A stream was read to its end, and if `isRead` completely rather than its changes: its history begins, if it has not, and has the members of its
 * columns. Returns what is known of it then.
 */
export async function noteRead(
  landing: Landing,
  { name, columns, history }: Table,
  isRead: boolean,
  moment: string,
): Promise<History | undefined> {
  if (history === undefined || (history.hasBegun && !isRead)) return history
  const { schemas, literal } = landing.sql
  const { account } = schemas
  const stream = literal(name)
  const members = new Set(columns.map(({ property }) => property))
  const added = [...members]
    .filter((property) => !history.members.has(property))
    .map((property) => `(${stream}, ${literal(JSON.stringify(property))}, ${moment})`)
  if (added.length > 0)
    await landing.run(`INSERT INTO ${account}.fields VALUES ${added.join(', ')}`)
  if (!history.hasBegun)
    await landing.run(
      `UPDATE ${account}.streams SET known_since = ${moment} WHERE stream = ${stream}`,
    )
  return { ...history, hasBegun: true, members }
}

/** Removes the closed versions that are no longer kept. */
export async function expireHistory(landing: Landing, now: string): Promise<void> {
  const { sql } = landing
  const span = await historySpan(landing)
  if (span === undefined || span === FOREVER) return
  const first = `${now} - INTERVAL ${sql.literal(span)}`
  const closed = (await streamsWithHistory(landing)).map(
    (stream) =>
      `DELETE FROM ${closedPlace(sql, stream)} AS closed WHERE closed.${KNOWN_UNTIL} < ${first}`,
  )
  await landing.run(
    [
      ...closed,
      `UPDATE ${sql.schemas.account}.streams SET known_since = greatest(known_since, ${first}) WHERE known_since IS NOT NULL`,
    ].join(';\n'),
  )
}

/** Removes all closed versions. If more are kept, the history of each stream begins again when it has been read. */
export async function forgetHistory(landing: Landing, keepsMore: boolean): Promise<void> {
  const { sql } = landing
  const { account, history } = sql.schemas
  const closed = (await streamsWithHistory(landing)).flatMap((stream) =>
    keepsMore
      ? [`TRUNCATE ${closedPlace(sql, stream)}`]
      : [
          `DROP VIEW IF EXISTS ${history}.${quoted(stream)}`,
          `DROP TABLE ${closedPlace(sql, stream)}`,
        ],
  )
  const statements = [
    ...closed,
    `DELETE FROM ${account}.fields`,
    `DELETE FROM ${account}.closes`,
    `UPDATE ${account}.streams SET known_since = NULL`,
    ...(keepsMore
      ? []
      : [
          `UPDATE ${account}.owner SET history = NULL`,
          // The views of the next sync are others, not changed ones.
          `UPDATE ${account}.described SET digest = ''`,
        ]),
  ]
  await landing.run(statements.join(';\n'))
}

/** The streams with a table of closed versions. */
async function streamsWithHistory(landing: Landing): Promise<string[]> {
  const hasOwn = await landing.ownTables()
  const rows = await landing.query(
    `SELECT DISTINCT known.stream FROM ${landing.sql.schemas.account}.columns AS known`,
  )
  return rows.map(([stream]) => String(stream)).filter((stream) => hasOwn(closedName(stream)))
}
