// The exports of `source-protime/warehouse`; everything else is internal.

import { createMask } from '../ground/mask.ts'
import { secretsOf } from '../ground/settings-schema.ts'
import type { Connector, Failure, Log } from '../protocol/connector.ts'
import { syncWarehouse } from './sync-warehouse.ts'

/** The source, the file and the options of a sync. */
export interface DuckdbSync {
  /** The settings of the connector: any JSON, which its `configure` checks. */
  readonly settings: unknown
  /** The DuckDB file; it is created if it does not exist. */
  readonly path: string
  /** The streams to read; by default all. */
  readonly streams?: readonly string[]
  /** Keeps deleted rows, with the time in `_deleted_at`. */
  readonly keepsDeleted?: boolean
  /**
   * Distinguishes accounts of one connector: a file with the rows of another account is refused.
   */
  readonly account?: string
  /** By default stderr. Secrets of the settings are masked. */
  readonly log?: Log
  readonly signal?: AbortSignal
}

/**
 * Syncs a connector into a DuckDB file and continues where the last sync ended. Rows and states are committed
 * together, so the file is correct after each commit, however the sync ends. Returns the streams that could
 * not be read to their end. Throws errors of the settings or the file, and the reason of `signal`. Needs the
 * package `@duckdb/node-api`.
 */
export async function syncDuckdb<Config>(
  connector: Connector<Config>,
  sync: DuckdbSync,
): Promise<{ readonly records: number; readonly failures: readonly Failure[] }> {
  const { settings, path, streams, keepsDeleted = false, account = '', log = STDERR } = sync
  const mask = createMask(connector.secretParameters)
  for (const secret of secretsOf(connector.spec.connectionSpecification, settings)) mask.add(secret)
  const masked: Log = {
    info: (message) => log.info(mask.text(message)),
    warn: (message) => log.warn(mask.text(message)),
    debug: (message) => log.debug(mask.text(message)),
  }
  const source = await connector.load()
  const { records, failures, stopped } = await syncWarehouse({
    source,
    config: source.configure(settings, masked),
    path,
    streams,
    keepsDeleted,
    owner: { tenant: connector.name, environment: account, redaction: '' },
    exitCodeOf: (done) => (done.failures.length === 0 && done.stopped === undefined ? 0 : 1),
    tools: { log: masked, mask, signal: sync.signal ?? new AbortController().signal },
  })
  if (stopped !== undefined) throw stopped
  return { records, failures }
}

const STDERR: Log = {
  info: (message) => void process.stderr.write(`${message}\n`),
  warn: (message) => void process.stderr.write(`${message}\n`),
  debug() {},
}
