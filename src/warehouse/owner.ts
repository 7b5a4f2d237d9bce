import type { DuckDBConnection } from '@duckdb/node-api'
import { ConnectorError } from '../ground/errors.ts'
import { literal } from './sql.ts'

/** Whose rows a file has: a tenant, and the environment that tells tenants of one name apart. */
export interface Owner {
  readonly tenant: string
  readonly environment: string
}

/** The form of `_protime` that this program reads and writes. */
const FORMAT = 1

const TABLES = `SELECT table_name FROM duckdb_tables()
  WHERE database_name = current_database() AND schema_name = '_protime'`

/**
 * Whether the file has an owner yet. Throws a config error for one of another owner or another form; only
 * reads.
 */
export async function isOwned(
  connection: DuckDBConnection,
  path: string,
  owner: Owner,
): Promise<boolean> {
  const tables = (await connection.runAndReadAll(TABLES)).getRows().map(([name]) => name)
  if (!tables.includes('owner')) {
    // Until there were owners, each file had states.
    if (tables.includes('states')) throw ofAnotherVersion(path, 'earlier')
    return false
  }
  const reader = await connection.runAndReadAll(
    'SELECT format, tenant, environment FROM _protime.owner',
  )
  const [[format, tenant, environment] = []] = reader.getRows()
  if (format !== FORMAT) throw ofAnotherVersion(path, Number(format) > FORMAT ? 'later' : 'earlier')
  if (tenant === owner.tenant && environment === owner.environment) return true
  throw new ConnectorError(
    'config',
    'warehouse-of-another-tenant',
    `${path} holds the rows of another tenant: of ${tenant} in ${environment}, and the configuration is of ${owner.tenant} in ${owner.environment}. Name another file by --warehouse.`,
  )
}

/** What makes a file the owner's. */
export function claim({ tenant, environment }: Owner): string[] {
  return [
    'CREATE TABLE _protime.owner (format INTEGER, tenant VARCHAR, environment VARCHAR)',
    `INSERT INTO _protime.owner VALUES (${FORMAT}, ${literal(tenant)}, ${literal(environment)})`,
  ]
}

function ofAnotherVersion(path: string, version: 'earlier' | 'later'): ConnectorError {
  const advice =
    version === 'later'
      ? 'Update the program, or name another file by --warehouse.'
      : 'Remove it, or name another file by --warehouse: the sync reads everything into a new one.'
  return new ConnectorError(
    'config',
    'made-by-another-version',
    `${path} was made by a version of this program that is ${version}, in a form that this one does not read. ${advice}`,
  )
}
