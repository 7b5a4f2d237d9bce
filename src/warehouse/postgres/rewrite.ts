import { ConnectorError } from '../../ground/errors.ts'
import { isOwned, keepsDeletedRows, RedactedOtherwise } from '../account.ts'
import { DELETED_AT } from '../column.ts'
import type { Owner, Replacement, ReplacementRules } from '../landing.ts'
import { quoted } from '../sql.ts'
import type { PostgresLanding } from './landing.ts'

/**
 * Prepares a warehouse to be read from the beginning where it is, so that views, grants and indexes of others stay. All
 * streams start over: each stream is replaced when it has been read. If an earlier attempt was not complete, its streams are
 * not read again. Deleted rows go at the end: no read replaces them.
 */
export async function prepareRewrite(
  address: string,
  owner: Owner,
  open: () => Promise<PostgresLanding>,
  rules: ReplacementRules,
): Promise<Replacement> {
  const landing = await open()
  const { schemas, literal } = landing.sql
  const { account, tables } = schemas
  try {
    const isOurs = await isOwned(landing, address, owner).catch((error) => {
      if (error instanceof RedactedOtherwise) return true
      throw error
    })
    if (isOurs) await landing.atomically(begin)
    const keepsDeleted = isOurs && (await keepsDeletedRows(landing))
    const deletedRows = isOurs ? await deletedRowsIn(landing) : 0
    const meanwhile = `Streams of ${address} that were not read keep the rows that they had`
    return { address, keepsDeleted, deletedRows, states: new Map(), meanwhile, takePlace }
  } finally {
    await landing.close()
  }

  async function begin(): Promise<void> {
    const present = await landing.present()
    assertNoneOf(rules.kept.filter((stream) => present.columnsOf(stream) !== undefined))
    const redaction = literal(owner.redaction)
    // Plain syncs may have read what an earlier attempt has left: then nothing of it is to be continued.
    const noted = present.hasOwn('rewrite')
      ? await landing.query(
          `SELECT noted.redaction FROM ${account}.rewrite AS noted
            WHERE EXISTS (SELECT 1 FROM ${account}.streams AS streams WHERE streams.last_complete IS NULL)`,
        )
      : []
    if (noted[0]?.[0] === owner.redaction) return
    await landing.run(
      [
        `CREATE TABLE IF NOT EXISTS ${account}.rewrite (redaction TEXT)`,
        `DELETE FROM ${account}.rewrite`,
        `INSERT INTO ${account}.rewrite VALUES (${redaction})`,
        `UPDATE ${account}.states SET starts_over = true`,
        // Any read is later than what is there.
        `UPDATE ${account}.streams SET last_complete = NULL, generation = least(generation, 0)`,
        `UPDATE ${account}.owner SET redaction = ${redaction}`,
      ].join(';\n'),
    )
  }

  /** Removes the rows of streams that were not read, deleted rows, and what both have left in the tables. */
  async function takePlace(): Promise<void> {
    const written = await open()
    try {
      const present = await streamsIn(written)
      await written.atomically(async () => {
        for (const { stream, isRead, isMarked } of present)
          if (!isRead || isMarked)
            await written.run(
              `DELETE FROM ${tableOf(stream)}${isRead ? ` WHERE ${DELETED_AT} IS NOT NULL` : ''}`,
            )
        await written.run(`DROP TABLE IF EXISTS ${account}.rewrite`)
      })
      for (const { stream } of present) await written.vacuum(tableOf(stream))
    } finally {
      await written.close()
    }
  }

  /** The streams that have a table: somebody may have dropped that of one that is no longer read. */
  async function streamsIn(landing: PostgresLanding) {
    const present = await landing.present()
    const rows = await landing.query(
      `SELECT streams.stream, streams.last_complete FROM ${account}.streams AS streams`,
    )
    return rows.flatMap(([name, complete]) => {
      const stream = String(name)
      const columns = present.columnsOf(stream)
      return columns === undefined
        ? []
        : [{ stream, isRead: complete !== null, isMarked: columns.has(DELETED_AT) }]
    })
  }

  async function deletedRowsIn(landing: PostgresLanding): Promise<number> {
    let deleted = 0
    for (const { stream, isMarked } of await streamsIn(landing)) {
      if (!isMarked) continue
      const [[count] = []] = await landing.query(
        `SELECT count(${DELETED_AT}) FROM ${tableOf(stream)}`,
      )
      deleted += Number(count)
    }
    return deleted
  }

  function tableOf(stream: string): string {
    return `${tables}.${quoted(stream)}`
  }
}

function assertNoneOf(missing: readonly string[]): void {
  if (missing.length === 0) return
  throw new ConnectorError(
    'config',
    'streams-left-out',
    `--rewrite would empty streams of the warehouse, because --streams does not name them: ${missing.join(', ')}. Name them too, or leave --streams out. To keep fewer streams permanently, name them in streams in the configuration.`,
  )
}
