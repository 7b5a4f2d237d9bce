import type { DuckDBConnection } from '@duckdb/node-api'
import { ConnectorError } from '../ground/errors.ts'
import { literal } from './sql.ts'

/** The owner of a file: a tenant, and the environment that distinguishes tenants of one name. */
export interface Owner {
  readonly tenant: string
  readonly environment: string
  /** A fingerprint of the settings that leave data out: equal for settings with the same effect. */
  readonly redaction: string
}

/** The form of `_protime` that this program reads and writes. */
const FORMAT = 2

const TABLES = `SELECT table_name FROM duckdb_tables()
  WHERE database_name = current_database() AND schema_name = '_protime'`

/**
 * Whether the file has an owner yet. Throws a config error for a file of another owner or of another form, or
 * if it was filled with other settings; only reads.
 */
export async function isOwned(
  connection: DuckDBConnection,
  path: string,
  owner: Owner,
): Promise<boolean> {
  const tables = (await connection.runAndReadAll(TABLES)).getRows().map(([name]) => name)
  if (!tables.includes('owner')) {
    // Before files had owners, each file had states.
    if (tables.includes('states')) throw ofAnotherVersion(path, 'earlier')
    return false
  }
  const form = await connection.runAndReadAll('SELECT format FROM _protime.owner')
  const [[format] = []] = form.getRows()
  if (format !== FORMAT) throw ofAnotherVersion(path, Number(format) > FORMAT ? 'later' : 'earlier')
  const reader = await connection.runAndReadAll(
    'SELECT tenant, environment, redaction FROM _protime.owner',
  )
  const [[tenant, environment, redaction] = []] = reader.getRows()
  if (tenant === owner.tenant && environment === owner.environment) {
    if (redaction === owner.redaction) return true
    throw new RedactedOtherwise(path)
  }
  throw new ConnectorError(
    'config',
    'warehouse-of-another-tenant',
    `${path} has the rows of another tenant: of ${tenant} in ${environment}, but the configuration is for ${owner.tenant} in ${owner.environment}. Name another file with --warehouse.`,
  )
}

/** Makes the tenant the owner of the file. */
export function claim({ tenant, environment, redaction }: Owner): string[] {
  const owner = [tenant, environment, redaction].map(literal).join(', ')
  return [
    'CREATE TABLE _protime.owner (format INTEGER, tenant VARCHAR, environment VARCHAR, redaction VARCHAR)',
    `INSERT INTO _protime.owner VALUES (${FORMAT}, ${owner})`,
  ]
}

/** The file belongs to the owner, and was filled with other settings. */
export class RedactedOtherwise extends ConnectorError {
  override name = 'RedactedOtherwise'

  constructor(path: string) {
    super(
      'config',
      'redacted-otherwise',
      `${path} was filled with other settings of personal data, and the values that they let through would stay in it. Add --rewrite: the sync reads everything into a new file, which replaces this one when it is complete.`,
    )
  }
}

function ofAnotherVersion(path: string, version: 'earlier' | 'later'): ConnectorError {
  const advice =
    version === 'later'
      ? 'Update the program, or name another file with --warehouse.'
      : 'Remove it, or name another file with --warehouse: the sync reads everything into a new one.'
  return new ConnectorError(
    'config',
    'made-by-another-version',
    `${path} was written by a version of this program that is ${version}, in a form that this one does not read. ${advice}`,
  )
}
