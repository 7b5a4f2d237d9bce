import { createReadStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import type { Client, CustomTypesConfig, QueryArrayResult } from 'pg'
import { ConnectorError } from '../../ground/errors.ts'
import { howToInstall } from '../how-to-install.ts'
import { type PostgresAddress, passwordFor, shownAddress } from './address.ts'
import { notOpened } from './failure.ts'

/** The part of a connection that is used. */
export interface Connection {
  /** Runs statements, separated by semicolons, or one with values for `$1`, `$2` and so on. Returns the rows of the last one. */
  query(sql: string, values?: readonly string[]): Promise<Answer>
  /** Runs one statement of the user. */
  queryOne(sql: string): Promise<Answer>
  /** Runs a COPY with the content of a file. */
  copy(sql: string, path: string): Promise<void>
  close(): Promise<void>
}

/** All values are texts, as PostgreSQL writes them. */
export interface Answer {
  readonly rows: readonly (string | null)[][]
  readonly fields: readonly { readonly name: string; readonly dataTypeID: number }[]
}

/** How a transaction begins, whatever the default of the server, the database or the role is. */
export const BEGIN = 'BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE'
/** After how many seconds without a word each side asks whether the other one is still there. */
const SILENCE_S = 20
/** What each transaction sets, whatever the server, the database or the role has been set to. */
export const SETTINGS = [
  ...[
    // Nobody else's function takes the place of one of PostgreSQL's, and definitions of views are always written the same.
    'search_path = pg_catalog',
    "timezone = 'UTC'",
    "datestyle = 'ISO, YMD'",
    'intervalstyle = postgres',
    'quote_all_identifiers = off',
    'extra_float_digits = 1',
    "work_mem = '64MB'",
    'statement_timeout = 0',
    'idle_in_transaction_session_timeout = 0',
    // Every reader of a table waits behind a statement that waits for its lock.
    "lock_timeout = '2s'",
    // To compile a comparison of many columns takes longer than to run it.
    'jit = off',
    // A policy of others would hide rows, which would be written twice; so a statement that has to obey one fails.
    'row_security = off',
    // A server would go on for hours for a process whose machine is gone, and hold its locks.
    `tcp_keepalives_idle = ${SILENCE_S}`,
    'tcp_keepalives_interval = 5',
    'tcp_keepalives_count = 4',
  ].map((setting) => `SET LOCAL ${setting}`),
  // Only since PostgreSQL 14, and not on every system: how often it looks in a long statement whether the process is there.
  setIfThere('client_connection_check_interval', '5s', "pg_catalog.version() LIKE '%linux%'"),
  // Only since PostgreSQL 17.
  setIfThere('transaction_timeout', '0'),
].join('; ')

function setIfThere(name: string, value: string, condition = 'true'): string {
  return `SELECT pg_catalog.set_config('${name}', '${value}', true)
    WHERE pg_catalog.current_setting('${name}', true) IS NOT NULL AND ${condition}`
}

/** How long to wait for a server that does not answer when a connection is opened. */
const CONNECT_MS = 15_000
/** The size of the parts in which a file is sent. */
const PART = 256 * 1024
const AS_TEXT = { getTypeParser: () => (value: unknown) => value } as CustomTypesConfig

/** Opens a connection. Throws a config error if the server refuses, and a transient one if it cannot be reached. */
export async function connect(address: PostgresAddress): Promise<Connection> {
  const { Client, copyFrom } = await loadPackages()
  const { host, port, user, database, encryption } = address
  const password = passwordFor(address, process.env)
  const client = new Client({
    ...{ host, port, user, database },
    password: () => password ?? missing(address),
    ssl: encryption === 'none' ? false : { rejectUnauthorized: encryption === 'checked' },
    connectionTimeoutMillis: CONNECT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: SILENCE_S * 1000,
    application_name: 'protime',
  })
  // When the connection is lost, the next statement fails; without a listener, the process would end.
  client.on('error', () => {})
  try {
    await client.connect()
  } catch (error) {
    close(client)
    throw notOpened(shownAddress(address), error)
  }
  const ask = async (query: object): Promise<Answer> => {
    const answer: unknown = await client.query({
      rowMode: 'array',
      types: AS_TEXT,
      ...query,
    } as never)
    return [answer].flat().at(-1) as QueryArrayResult<(string | null)[]>
  }
  return {
    query: (text, values) => ask(values === undefined ? { text } : { text, values }),
    queryOne: (text) => ask({ text, queryMode: 'extended' }),
    async copy(sql, path) {
      const parts = createReadStream(path, { highWaterMark: PART })
      await pipeline(parts, client.query(copyFrom(sql)))
    },
    close: async () => close(client),
  }
}

/** Does not wait: a server that is gone would not answer. */
function close(client: Client): void {
  void client.end().catch(() => {})
}

async function loadPackages() {
  try {
    const { Client } = (await import('pg')).default
    const { from } = await import('pg-copy-streams')
    return { Client, copyFrom: from }
  } catch (error) {
    throw new ConnectorError(
      'config',
      'postgres-missing',
      `The warehouse is in PostgreSQL, and the packages for it are not installed. ${howToInstall('postgres')}`,
      { cause: error },
    )
  }
}

function missing(address: PostgresAddress): never {
  throw new ConnectorError(
    'config',
    'password-missing',
    `The server of ${shownAddress(address)} requires a password. Set PGPASSWORD, or write it into the password file of PostgreSQL (~/.pgpass).`,
  )
}
