// The exports of `source-protime/warehouse`; everything else is internal.

import { Command, CommanderError } from 'commander'
import { asConnectorError, exitCodeOf, InterruptedError } from '../ground/errors.ts'
import { createMask, type Mask } from '../ground/mask.ts'
import { about, withId } from '../ground/message-ids.ts'
import { secretsOf } from '../ground/settings-schema.ts'
import { readJsonOption, refusedCommandLine } from '../protocol/command-line.ts'
import type { Connector, ConnectorFacts, Failure, Log } from '../protocol/connector.ts'
import { type Io, runProgram, withProcessDefaults } from '../protocol/program.ts'
import { syncWarehouse } from './sync-warehouse.ts'

/** The source, the file and the options of a sync. */
export interface DuckdbSync {
  /** The settings of the connector: any JSON, which its `configure` checks. */
  readonly settings: unknown
  /** The DuckDB file; it is created if it does not exist. */
  readonly path: string
  /** The streams to read; by default all. */
  readonly streams?: readonly string[]
  /** Keeps what rows were before from now on; a file that keeps it already goes on. */
  readonly keepsHistory?: boolean
  /** Reads the streams from the beginning. */
  readonly fullRefresh?: boolean
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
  const { settings, path, streams, keepsHistory, account = '', log = STDERR } = sync
  const mask = maskOf(connector, settings)
  const masked: Log = {
    info: (message) => log.info(mask.text(message)),
    warn: ({ id, message }) => log.warn({ id, message: mask.text(message) }),
    debug: (message) => log.debug(mask.text(message)),
  }
  const source = await connector.load()
  const { records, failures, stopped } = await syncWarehouse({
    source,
    config: source.configure(settings, masked),
    path,
    streams,
    keepsHistory,
    startOver: sync.fullRefresh === true ? 'full refresh' : undefined,
    owner: { tenant: connector.name, environment: account, redaction: '' },
    exitCodeOf: (done) => (done.failures.length === 0 && done.stopped === undefined ? 0 : 1),
    tools: { log: masked, mask, signal: sync.signal ?? new AbortController().signal },
  })
  if (stopped !== undefined) throw stopped
  return { records, failures }
}

/** Masks the secrets of a connector's settings. */
function maskOf({ spec, secretParameters }: ConnectorFacts, settings: unknown): Mask {
  const mask = createMask(secretParameters)
  for (const secret of secretsOf(spec.connectionSpecification, settings)) mask.add(secret)
  return mask
}

const STDERR: Log = {
  info: (message) => void process.stderr.write(`${message}\n`),
  warn: (message) => void process.stderr.write(`${withId(message)}\n`),
  debug() {},
}

/** The options of the program. */
interface RunOptions {
  readonly config: string
  readonly warehouse: string
  /** Names, separated by commas. */
  readonly streams?: string
  readonly fullRefresh?: boolean
  readonly history?: boolean
}

/**
 * Runs a program that syncs a source into a DuckDB file, and returns the exit code: 0 if everything was read, 2 if a person
 * has to correct something first, and otherwise 1, after which another attempt may succeed. The last line of stdout is the
 * result as JSON. After SIGTERM, SIGINT or SIGHUP it commits what it has read, and ends with the signal. Never throws. The
 * missing parts of `io` are those of the process.
 */
export function runSync<Config>(
  argv: readonly string[],
  connector: Connector<Config>,
  io: Partial<Io> = {},
): Promise<number> {
  const { stdout, stderr } = withProcessDefaults(io)
  const say = (level: string) => (message: string) => void stderr.write(`${level} ${message}\n`)
  const log: Log = {
    info: say('INFO'),
    warn: (message) => say('WARN')(withId(message)),
    debug() {},
  }
  return runProgram(
    { stdout, stderr },
    async ({ writer, signal }) => {
      const print = (text: string) => void writer.write(text)
      let mask: Mask | undefined
      let done: { readonly records: number; readonly failures: readonly Failure[] }
      try {
        const options = parsed(argv, connector, print)
        if (options === undefined) return 0
        const { config, warehouse: path, streams, fullRefresh = false, history = false } = options
        const settings = await readJsonOption('--config', config)
        mask = maskOf(connector, settings)
        const chosen = streams === undefined ? {} : { streams: streams.split(',') }
        const how = { fullRefresh, keepsHistory: history, log, signal }
        done = await syncDuckdb(connector, { settings, path, ...chosen, ...how })
      } catch (error) {
        if (error instanceof InterruptedError) throw error
        done = { records: 0, failures: [{ error: asConnectorError(error) }] }
      }
      const { records, failures } = done
      const told = failures.map((failure) => toldOf(failure, mask))
      for (const { type, stream, ...message } of told)
        say('ERROR')(`${type}: ${withId(about(stream, message))}`)
      print(`${JSON.stringify({ records, failures: told })}\n`)
      return exitCodeOf(failures)
    },
    (error) => say('ERROR')(withId(asConnectorError(error))),
    'The next sync continues from the last commit.',
  )
}

function toldOf({ stream, error }: Failure, mask: Mask | undefined) {
  const message = mask?.text(error.message) ?? error.message
  return { id: error.id, type: error.failure, ...(stream === undefined ? {} : { stream }), message }
}

/** The options of a command line; undefined if it only asked for help or the version. */
function parsed(
  argv: readonly string[],
  { name, version }: ConnectorFacts,
  writeOut: (text: string) => void,
): RunOptions | undefined {
  const command = new Command(name)
    .version(version)
    .option('--config <file>', 'the settings', 'config.json')
    .option('--warehouse <file>', 'the DuckDB file; the first sync creates it', `${name}.duckdb`)
    .option('--streams <names>', 'the streams to read, separated by commas (default: all)')
    .option('--full-refresh', 'read the streams from the beginning')
    .option('--history', 'from now on, the file keeps what rows were before')
    .configureOutput({ writeOut, writeErr() {} })
    .exitOverride()
  try {
    return command.parse([...argv], { from: 'user' }).opts<RunOptions>()
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return undefined
    throw refusedCommandLine(error)
  }
}
