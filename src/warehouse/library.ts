// What others import as `source-protime/warehouse`; everything else is no interface.

import { createMask } from '../ground/mask.ts'
import { secretsOf } from '../ground/settings-schema.ts'
import type { Connector, Failure, Log } from '../protocol/connector.ts'
import { syncWarehouse } from './sync-warehouse.ts'

/** What is synced, and into which file. */
export interface DuckdbSync {
  /** The settings of the connector: any JSON, which its `configure` checks. */
  readonly settings: unknown
  /** The DuckDB file; it is made if it is not there. */
  readonly path: string
  /** The streams to read; all of them if left out. */
  readonly streams?: readonly string[]
  /** Deleted rows stay, with the time in `_deleted_at`. */
  readonly keepsDeleted?: boolean
  /** Tells accounts of one connector apart: a file that has the rows of another is refused. */
  readonly account?: string
  /** stderr if left out. Secrets of the settings are masked. */
  readonly log?: Log
  readonly signal?: AbortSignal
}

/**
 * Syncs a connector into a DuckDB file from where the file stands: rows and states are committed together, so that the
 * file is right after each commit, whatever ends the sync. Answers with the streams that could not be read to their end.
 * Throws what concerns the settings or the file, and the reason of `signal`. Needs the package `@duckdb/node-api`.
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
