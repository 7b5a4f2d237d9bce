import { createHash } from 'node:crypto'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { ConnectorError } from '../../ground/errors.ts'
import { claim } from '../account.ts'
import type { Dialect, Engine, Landing, OpenSettings } from '../landing.ts'
import { isPostgresAddress, type PostgresAddress, parseAddress, shownAddress } from './address.ts'
import { BEGIN, type Connection, connect, SETTINGS } from './connection.ts'
import { literal, postgresDialect } from './dialect.ts'
import { failureOf, notOpened } from './failure.ts'
import { beginFence, fenceTable } from './fence.ts'
import { createLanding, notPublished, type PostgresLanding, readLanding } from './landing.ts'
import { lockWarehouse } from './lock.ts'
import { selectInAccount } from './present.ts'
import { identifyPublishedRows } from './publication.ts'
import { prepareRewrite } from './rewrite.ts'

/** Databases of PostgreSQL. */
export const postgres: Engine = {
  accepts: isPostgresAddress,
  async read(text, patience) {
    const address = parseAddress(text)
    return patience(async () => {
      const connection = await usable(address)
      return readLanding(connection, address.schema).catch(closing(address, connection))
    })
  },
  async open(text, settings) {
    return open(parseAddress(text), settings)
  },
  rewrite(text, owner, patience, rules) {
    const address = parseAddress(text)
    const settings = {
      patience,
      inspect: async () => {},
      claim: (sql: Dialect) => claim(sql, owner),
    }
    return prepareRewrite(text, owner, () => open(address, settings), rules)
  },
  renew: undefined,
  async assertPublishable(_address, copy) {
    throw notPublished(copy)
  },
  dbtTarget(text) {
    const { host, port, user, database, schema, encryption } = parseAddress(text)
    const mode = { none: 'disable', unchecked: 'require', checked: 'verify-full' }[encryption]
    const output = [
      'type: postgres',
      `host: ${JSON.stringify(host)}`,
      `port: ${port}`,
      `user: ${JSON.stringify(user)}`,
      `password: "{{ env_var('PGPASSWORD', '') }}"`,
      `dbname: ${JSON.stringify(database)}`,
      '# Where dbt makes the models.',
      'schema: analytics',
      `sslmode: ${mode}`,
      'threads: 4',
    ]
    return { file: undefined, database, schema, output }
  },
  folderOf(text) {
    const { host, port, user, database, schema } = parseAddress(text)
    const name = createHash('sha256').update(JSON.stringify([host, port, user, database, schema]))
    return join(tmpdir(), `protime-${userInfo().uid}-${name.digest('hex').slice(0, 16)}`)
  },
}

type PostgresSettings = Pick<OpenSettings, 'patience' | 'inspect' | 'claim'>

function open(address: PostgresAddress, settings: PostgresSettings): Promise<PostgresLanding> {
  // A server that restarts counts as one that is in use, and so does a killed sync whose last statement goes on there.
  return settings.patience(async () => {
    const lock = await lockWarehouse(address)
    try {
      return await openLocked(address, lock, settings)
    } catch (error) {
      await lock.close()
      throw error
    }
  })
}

async function openLocked(
  address: PostgresAddress,
  lock: Connection,
  { inspect, claim }: PostgresSettings,
): Promise<PostgresLanding> {
  const { schema } = address
  const connection = await usable(address)
  const sql = postgresDialect(schema)
  const { account } = sql.schemas
  const prepare = async () => {
    const asked = await connect(address)
    const reader = await readLanding(asked, schema).catch(closing(address, asked))
    const isNew = !(await reader.ownTables())('owner')
    await (isNew ? assertAccountIsFree(reader) : inspect(reader)).finally(() => reader.close())
    await connection.query(`${BEGIN}; ${SETTINGS}`)
    for (const name of await missingSchemas(connection, Object.values(sql.schemas)))
      await connection.query(`CREATE SCHEMA ${name}`)
    if (isNew) await connection.query([...claim(sql), ...fenceTable(account)].join(';\n'))
    await identifyPublishedRows(connection, sql.schemas)
    const fence = await beginFence(connection, account, () => connect(address))
    await connection.query('COMMIT')
    return fence
  }
  const fence = await prepare().catch(closing(address, connection))
  return createLanding(connection, schema, fence, lock)
}

/** Throws a config error if somebody else has anything where the account of a new warehouse will be, which would take it for its own. */
async function assertAccountIsFree({ sql, query }: Landing): Promise<void> {
  const [[other] = []] = await query(selectInAccount(sql.schemas))
  if (other === undefined) return
  throw new ConnectorError(
    'config',
    'name-taken',
    `The warehouse has a table or view ${other} that no sync has created, and a new warehouse needs the schema for its account alone. Move it, or name another schema in the address.`,
  )
}

/** Those that do not exist. To create one needs a right even if it exists. */
async function missingSchemas(connection: Connection, names: readonly string[]): Promise<string[]> {
  const { rows } = await connection.query(
    `SELECT asked.name FROM (VALUES (${names.map(literal).join('), (')})) AS asked (name)
      WHERE to_regnamespace(asked.name) IS NULL`,
  )
  return rows.map(([name]) => String(name))
}

const OLDEST = 130_000

/** Opens a connection to a database that can be a warehouse. */
async function usable(address: PostgresAddress): Promise<Connection> {
  const connection = await connect(address)
  const { rows } = await connection
    .query(
      `SELECT current_setting('server_encoding'), current_setting('server_version_num'), current_setting('server_version'),
        (SELECT count(*) FROM pg_get_keywords() WHERE word = ${literal(address.schema)} AND catcode IN ('R', 'T'))`,
    )
    .catch(closing(address, connection))
  const [[encoding, number, version, words] = []] = rows
  const fault =
    (encoding !== 'UTF8' && `its encoding is ${encoding}, and only UTF8 has every character`) ||
    (Number(number) < OLDEST && `its server is PostgreSQL ${version}, and 13 is the oldest`) ||
    (words !== '0' && `${address.schema} is a word of SQL: name another schema`)
  if (!fault) return connection
  await connection.close()
  throw new ConnectorError(
    'config',
    'warehouse-not-opened',
    `The warehouse ${shownAddress(address)} cannot be opened: ${fault}.`,
  )
}

/** Closes a connection after an error, and says what it means for the warehouse. */
function closing(address: PostgresAddress, connection: Connection) {
  return async (error: unknown): Promise<never> => {
    await connection.close()
    const { error: failure } = failureOf(error)
    throw failure.id === 'warehouse-not-written' ? notOpened(shownAddress(address), error) : failure
  }
}
