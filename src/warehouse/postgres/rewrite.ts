import { ConnectorError } from '../../ground/errors.ts'
import { isOwned, RedactedOtherwise } from '../account.ts'
import { assertForgettable, forgetHistory, historySpan } from '../history.ts'
import type { Owner, Replacement, ReplacementRules } from '../landing.ts'
import { nextName, quoted } from '../sql.ts'
import { startOver } from '../tables.ts'
import { told } from '../unwritable.ts'
import type { PostgresLanding } from './landing.ts'

/**
 * Prepares a warehouse to be read from the beginning where it is, so that views, grants and indexes of others stay. All
 * streams start over: each stream is replaced when it has been read. If an earlier attempt was not complete, its streams are
 * not read again.
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
    const history = isOurs ? await told(landing, landing.atomically(begin)) : undefined
    const meanwhile = `Streams of ${address} that were not read keep the rows that they had`
    return { address, history, states: new Map(), meanwhile, takePlace }
  } finally {
    await landing.close()
  }

  async function begin(): Promise<string | undefined> {
    const span = await historySpan(landing)
    assertForgettable(address, span, rules.forgetsHistory)
    const present = await landing.present()
    assertNoneOf(rules.kept.filter((stream) => present.columnsOf(stream) !== undefined))
    const redaction = literal(owner.redaction)
    // Plain syncs may have read what an earlier attempt has left: then nothing of it is to be continued.
    const noted = (await landing.ownTables())('rewrite')
      ? await landing.query(
          `SELECT noted.redaction FROM ${account}.rewrite AS noted
            WHERE EXISTS (SELECT 1 FROM ${account}.streams AS streams WHERE streams.last_complete IS NULL)`,
        )
      : []
    if (noted[0]?.[0] === owner.redaction) return span
    await forgetHistory(landing, span !== undefined)
    await landing.run(
      [
        // Without a replica identity, no row of a published table can be deleted.
        `DROP TABLE IF EXISTS ${account}.rewrite`,
        `CREATE TABLE ${account}.rewrite (redaction TEXT)`,
        `INSERT INTO ${account}.rewrite VALUES (${redaction})`,
        `UPDATE ${account}.states SET starts_over = true`,
        // Any read is later than what is there.
        `UPDATE ${account}.streams SET last_complete = NULL, generation = least(generation, 0)`,
        `UPDATE ${account}.owner SET redaction = ${redaction}`,
      ].join(';\n'),
    )
    return span
  }

  /**
   * Removes the rows of streams that were not read, which are read from the beginning if they ever are, and what deleted
   * rows and states have left in the tables.
   */
  async function takePlace(): Promise<void> {
    const written = await open()
    try {
      await told(written, empty(written))
    } finally {
      await written.close()
    }
  }

  async function empty(landing: PostgresLanding): Promise<void> {
    const present = await streamsIn(landing)
    await landing.atomically(async () => {
      for (const { stream, isRead } of present)
        if (!isRead)
          await landing.run(
            [
              `DELETE FROM ${tableOf(stream)}`,
              `DROP TABLE IF EXISTS ${account}.${quoted(nextName(stream))}`,
              `UPDATE ${account}.streams SET rows = 0, next_generation = NULL, next_rows = NULL WHERE stream = ${literal(stream)}`,
              startOver(landing.sql, stream),
            ].join(';\n'),
          )
    })
    const rows = present.map(({ stream }) => tableOf(stream))
    for (const table of [...rows, `${account}.states`]) await landing.vacuum(table)
    // Until then, bytes of before are left.
    await landing.run(`DROP TABLE IF EXISTS ${account}.rewrite`)
  }

  /** The streams that have a table: somebody may have dropped that of one that is no longer read. */
  async function streamsIn(landing: PostgresLanding) {
    const present = await landing.present()
    const rows = await landing.query(
      `SELECT streams.stream, streams.last_complete FROM ${account}.streams AS streams`,
    )
    return rows
      .map(([name, complete]) => ({ stream: String(name), isRead: complete !== null }))
      .filter(({ stream }) => present.columnsOf(stream) !== undefined)
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
