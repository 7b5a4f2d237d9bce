import { setTimeout as sleep } from 'node:timers/promises'
import { BEGIN, type Connection, SETTINGS } from './connection.ts'
import { ConnectionError, isLost } from './failure.ts'

/**
 * How the transactions of a sync are numbered: no earlier sync can commit after a later one has begun, and none goes on where
 * the server has lost what it has committed.
 */
export interface Fence {
  /** Gives this transaction its number; throws if a later sync has begun, and if the number before is not that of the last commit. */
  begin(connection: Connection): Promise<number>
  /** Commits the transaction; if the answer is lost, finds out what happened. Returns the connection to go on with. */
  commit(connection: Connection, number: number): Promise<Connection>
  /** Another connection in place of one that is lost. */
  reconnect(lost: Connection): Promise<Connection>
}

/** How long to wait for a server that restarts, and for the end of the transaction that it may still be committing. */
const RECONNECT_MS = 60_000
const RETRY_MS = 1_000

/** The statements that create the table of the numbers: of the sync that may write, and of the last transaction. */
export function fenceTable(account: string): string[] {
  return [
    `CREATE TABLE ${account}.commits (sync BIGINT NOT NULL, number BIGINT NOT NULL)`,
    `INSERT INTO ${account}.commits VALUES (0, 0)`,
  ]
}

/** Begins a sync: from now on, no transaction of an earlier one can be committed. */
export async function beginFence(
  connection: Connection,
  account: string,
  reconnect: () => Promise<Connection>,
): Promise<Fence> {
  const { rows } = await connection.query(
    `UPDATE ${account}.commits AS commits SET sync = commits.sync + 1 RETURNING commits.sync, commits.number`,
  )
  const [sync, before] = (rows[0] ?? []).map(Number)
  let last = Number(before)
  return {
    async begin(connection) {
      // The lock of this row lasts until the end of the transaction.
      const { rows } = await connection.query(
        `UPDATE ${account}.commits AS commits SET number = commits.number + 1 WHERE commits.sync = ${sync} RETURNING commits.number`,
      )
      if (rows[0] === undefined) throw overtaken()
      const number = Number(rows[0][0])
      if (number !== last + 1) throw commitLost()
      return number
    },
    async commit(connection, number) {
      try {
        await connection.query('COMMIT')
        last = number
        return connection
      } catch (error) {
        if (!isLost(error)) throw error
        const next = await replaced(connection)
        try {
          if (!(await isCommitted(next, number))) throw error
        } catch (reason) {
          await next.close()
          // A lock that is not free yet is not another reason to try the transaction again: it may be committing.
          throw reason instanceof ConnectionError ? reason : error
        }
        last = number
        return next
      }
    },
    reconnect: replaced,
  }

  async function replaced(lost: Connection): Promise<Connection> {
    await lost.close()
    return patiently(reconnect)
  }

  /** Waits for the end of the transaction with this number, which has locked the row. */
  async function isCommitted(connection: Connection, number: number): Promise<boolean> {
    await connection.query(`${BEGIN}; ${SETTINGS}; SET LOCAL lock_timeout = ${RECONNECT_MS}`)
    const { rows } = await connection.query(
      `SELECT commits.sync, commits.number FROM ${account}.commits AS commits FOR UPDATE`,
    )
    await connection.query('COMMIT')
    const [[last, highest] = []] = rows
    if (Number(last) !== sync) throw overtaken()
    return Number(highest) >= number
  }
}

async function patiently(reconnect: () => Promise<Connection>): Promise<Connection> {
  for (const until = performance.now() + RECONNECT_MS; ; await sleep(RETRY_MS))
    try {
      return await reconnect()
    } catch (error) {
      if (performance.now() >= until) throw error
    }
}

function overtaken(): ConnectionError {
  return new ConnectionError(
    'transient',
    'in-use',
    'Another sync has begun to write the warehouse, so this one ends: its connection to the server was lost for a while. The warehouse has the rows of the last commit.',
  )
}

/** Such as after a failover to a server that had not received it. */
function commitLost(): ConnectionError {
  return new ConnectionError(
    'transient',
    'warehouse-not-reached',
    'The server of the warehouse was not reached for a while, and now lacks the last commit, as one may that has taken the place of another. The next sync continues with what it has.',
  )
}
