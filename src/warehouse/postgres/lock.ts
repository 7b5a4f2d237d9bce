import { ConnectorError } from '../../ground/errors.ts'
import { type PostgresAddress, shownAddress } from './address.ts'
import { type Connection, connect, SETTINGS } from './connection.ts'
import { literal } from './dialect.ts'
import { notOpened } from './failure.ts'

/**
 * Takes the lock of a warehouse, which only one sync can have at a time: throws a transient error if another one has it.
 * It is that of a transaction, which the connection keeps open: so the server releases it when this process is gone, also
 * behind a pooler that gives each transaction another connection. The transaction holds back no vacuum.
 */
export async function lockWarehouse(address: PostgresAddress): Promise<Connection> {
  const connection = await connect(address)
  const key = literal(`protime sync ${address.schema}`)
  try {
    await connection.query(`BEGIN; ${SETTINGS}`)
    const { rows } = await connection.query(
      `SELECT pg_catalog.pg_try_advisory_xact_lock(pg_catalog.hashtextextended(${key}, 0))`,
    )
    if (rows[0]?.[0] === 't') return { ...connection, close: () => release(connection) }
  } catch (error) {
    await connection.close()
    throw notOpened(shownAddress(address), error)
  }
  await connection.close()
  throw new ConnectorError(
    'transient',
    'in-use',
    `Another sync writes the warehouse: ${shownAddress(address)}. Only one process can sync a warehouse; others can read it meanwhile.`,
  )
}

/** Waits until the lock is free: the server may take a while to see that a connection is closed. */
async function release(connection: Connection): Promise<void> {
  await connection.query('ROLLBACK').catch(() => {})
  await connection.close()
}
