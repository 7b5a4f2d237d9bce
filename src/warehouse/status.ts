import { ConnectorError } from '../ground/errors.ts'
import { closingOnError, openDatabase, type Patience, texts } from './duckdb.ts'

/** A warehouse's account of its syncs. */
export interface WarehouseAge {
  readonly tenant: string
  readonly environment: string
  /** The last sync; undefined if there was none. */
  readonly sync: SyncAccount | undefined
  readonly streams: readonly StreamAge[]
}

/** A sync in the file's account; times are ISO texts in UTC. */
interface SyncAccount {
  readonly began: string
  /** Undefined for a sync that was killed. */
  readonly ended: string | undefined
  readonly exit: number | undefined
}

export interface StreamAge {
  readonly stream: string
  readonly rows: number
  /** When it was last read to its end; undefined if it never was. */
  readonly lastComplete: string | undefined
  /** Why the last sync failed to read it. */
  readonly failure: string | undefined
}

const FORM = "'%Y-%m-%dT%H:%M:%SZ'"
const utc = (column: string) => `coalesce(strftime(${column} AT TIME ZONE 'UTC', ${FORM}), '')`

/**
 * Reads the age of the rows in a DuckDB file of `protime sync`. The file is only read; throws for any other
 * file.
 */
export async function readStatus(path: string, patience: Patience): Promise<WarehouseAge> {
  const database = await patience(() => openDatabase(path))
  const { connection } = database
  return closingOnError(database, async () => {
    const [owned] = await texts(
      connection,
      "SELECT count(*)::VARCHAR FROM duckdb_tables() WHERE schema_name = '_protime' AND table_name IN ('owner', 'syncs', 'streams')",
    )
    if (owned?.[0] !== '3')
      throw new ConnectorError(
        'config',
        'not-a-warehouse',
        `${path} is not a file of protime sync. Name one with --warehouse.`,
      )
    const [owner = []] = await texts(
      connection,
      'SELECT tenant, environment FROM _protime.owner LIMIT 1',
    )
    const [sync] = await texts(
      connection,
      `SELECT ${utc('began')}, ${utc('ended')}, coalesce(exit::VARCHAR, '') FROM _protime.syncs ORDER BY _protime.syncs.began DESC LIMIT 1`,
    )
    const streams = await texts(
      connection,
      `SELECT stream, coalesce(rows, 0)::VARCHAR, ${utc('last_complete')}, coalesce(failure, '') FROM _protime.streams ORDER BY stream`,
    )
    const [tenant = '', environment = ''] = owner
    return { tenant, environment, sync: sync && syncOf(sync), streams: streams.map(streamOf) }
  })
}

function syncOf([began = '', ended, exit]: readonly string[]): SyncAccount {
  return { began, ended: ended || undefined, exit: exit ? Number(exit) : undefined }
}

function streamOf([stream = '', rows, lastComplete, failure]: readonly string[]): StreamAge {
  return {
    stream,
    rows: Number(rows),
    lastComplete: lastComplete || undefined,
    failure: failure || undefined,
  }
}
