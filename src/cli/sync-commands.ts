import { type Command, InvalidArgumentError, Option } from 'commander'
import { withId } from '../ground/message-ids.ts'
import { checkFailure } from '../protocol/connector.ts'
import { DIALECTS } from '../verify/landing-queries.ts'
import { type Act, type BareAct, CONFIG_FILE, EXIT, examples, UsageError } from './command.ts'
import type { DbtInitOptions } from './dbt-init-action.ts'
import type { StatusOptions } from './status-action.ts'
import type { SyncOptions } from './sync-action.ts'
import type { VerifyOptions } from './verify-action.ts'

// The command lines that read a tenant; their actions are loaded when they are called.

/** `protime init`: a configuration file from a few questions. */
export function addInit(program: Command, act: BareAct): void {
  program
    .command('init')
    .description('ask for tenant, client and secret, check them, and write the configuration')
    .addHelpText(
      'after',
      `\nWrites config.json, or the file of --config, which only you may read. An existing file is not touched.
The answers may come from a pipe too, one per line.
${examples('init', 'init --config acme.json')}`,
    )
    .action(() =>
      act(async (tools) => {
        const { init } = await import('./init-action.ts')
        return init(tools, program.opts<{ config?: string }>().config ?? CONFIG_FILE)
      }),
    )
}

/** `protime check`: whether the configuration works. `protime status` and `protime query`: what a warehouse has. */
export function addStatus(program: Command, act: Act, bare: BareAct): void {
  program
    .command('check')
    .description(
      'test the configuration: which streams the client can read, and why not the others',
    )
    .addHelpText(
      'after',
      `\nRequests the first page of each list, so no sync is disturbed. Fails if nothing can be read.
${examples('check', 'check --config acme.json')}`,
    )
    .action(() =>
      act(async ({ config, log, mask, signal, print }) => {
        const { createSource } = await import('../source/source.ts')
        const result = await createSource().check(config, { log, mask, signal })
        await print(`tenant ${config.tenant}, client ${config.clientId}`)
        await print(mask.text(result.isUsable ? result.message : withId(checkFailure(result))))
        return result.isUsable ? EXIT.done : EXIT.failed
      }),
    )
  program
    .command('status')
    .description('show when each stream of a warehouse was last complete, and how it is read next')
    .addOption(warehouseOption())
    .option('--json', 'print one JSON line')
    .addHelpText(
      'after',
      `\nOnly reads. Ends with 1 if the last sync failed, or has not ended.\n${examples('status', 'status --json')}`,
    )
    .action((options: Partial<StatusOptions>) =>
      bare(async (tools) => {
        const { status } = await import('./status-action.ts')
        return status(await withWarehouse(program, options), new Date(), tools)
      }),
    )
  program
    .command('query <sql>')
    .description('print the result of a query on a warehouse')
    .addOption(warehouseOption())
    .option('--json', 'one JSON line per row instead of a table')
    .addHelpText(
      'after',
      `\nOnly reads the warehouse. The tables are in the schema main, the views with nested fields as columns in flat;
in PostgreSQL in protime and protime_flat.
${examples('query "SHOW ALL TABLES"', 'query "SELECT count(*) FROM flat.people" --json')}`,
    )
    .action((sql: string, options: Partial<StatusOptions>) =>
      bare(async (tools) => {
        const { query } = await import('./query-action.ts')
        return query(sql, await withWarehouse(program, options), tools)
      }),
    )
}

/** The option that names the warehouse of a command. */
export function warehouseOption(): Option {
  return new Option(
    '--warehouse <address>',
    'a DuckDB file, or postgres://USER@HOST/DATABASE (default: warehouse of the configuration, or protime.duckdb)',
  )
}

/** The options of a command that needs no configuration, with the warehouse. */
async function withWarehouse<T extends { readonly warehouse?: string }>(
  program: Command,
  options: T,
): Promise<T & { readonly warehouse: string }> {
  const { warehouseIn } = await import('./warehouse-option.ts')
  const { config } = program.opts<{ config?: string }>()
  return { ...options, warehouse: await warehouseIn(options.warehouse, config) }
}

/** `protime preview`: shows a tenant's data before a sync. */
export function addPreview(program: Command, act: Act): void {
  program
    .command('preview [stream...]')
    .description('show the first records of the given streams, or of all streams')
    .option('--limit <number>', 'how many records of each stream', positiveNumber, 10)
    .option('--json', 'one JSON line per record instead of tables')
    .addHelpText(
      'after',
      `\nRequests only lists, so no sync is disturbed. Shows the last 31 days of dated records.
${examples('preview --config config.json', 'preview people clockings --limit 3 --json --config config.json')}`,
    )
    .action((streams: string[], { limit, json = false }: { limit: number; json?: boolean }) =>
      act(async (tools) => {
        const { show } = await import('./preview-action.ts')
        return show(tools, { streams, limit, isJson: json })
      }),
    )
}

function positiveNumber(text: string): number {
  if (!/^[1-9]\d{0,4}$/.test(text))
    throw new InvalidArgumentError('It must be a whole number from 1 to 99999.')
  return Number(text)
}

/** `protime sync`: reads a tenant into a DuckDB file. */
export function addSync(program: Command, act: Act): void {
  program
    .command('sync')
    .description('read a tenant into a DuckDB file or PostgreSQL; later runs read the changes')
    .addOption(warehouseOption())
    .option('--streams <names>', 'the streams to read, separated by commas (default: all)')
    .option('--full-refresh', 'read the streams from the beginning')
    .option(
      '--rewrite',
      'read everything again, in DuckDB into a new file; needed after a change of the settings of personal data',
    )
    .option('--drop-others', 'with --rewrite: lose what no sync has created in the file')
    .option('--forget-history', 'with --rewrite: lose what rows were before')
    .option(
      '--approve-deletes <stream:count:time>',
      'delete missing rows once, as the message of a failed stream names them; may be repeated',
      approvals,
    )
    .addOption(new Option('--keep-deleted').hideHelp())
    .option(
      '--wait <time>',
      'wait this long while another process has the warehouse open: 30s, 10m, 2h',
      milliseconds,
    )
    .option(
      '--publish <file>',
      'make a copy of a DuckDB file for readers after each complete sync; FOLDER/ with a slash gets Parquet files',
    )
    .option(
      '--metrics <file>',
      'write metrics of the sync for Prometheus (or set PROTIME_METRICS_FILE)',
    )
    .option('--end-with-parent', 'stop, as after SIGTERM, when the parent process is gone')
    .action(async ({ keepDeleted, ...options }: SyncOptions & { keepDeleted?: boolean }) => {
      if (keepDeleted === true)
        throw new UsageError(
          "unknown option '--keep-deleted': the history of a warehouse has deleted rows; turn it on with protime history on",
        )
      const only = [
        ['--drop-others', options.dropOthers],
        ['--forget-history', options.forgetHistory],
      ]
      for (const [name, isGiven] of only)
        if (isGiven === true && options.rewrite !== true)
          throw new UsageError(`${name} can only be used with --rewrite`)
      // The parent may end before anything else is loaded.
      const parent = process.ppid
      const { refuseSync, syncAction } = await import('./sync-action.ts')
      await act(syncAction(options, parent), refuseSync(options))
    })
}

function approvals(text: string, before: readonly string[] = []): readonly string[] {
  if (!/^[a-z_]+:\d{1,9}:[\dTZ:.-]+$/.test(text))
    throw new InvalidArgumentError('It must be stream:count:time, as the message names it.')
  return [...before, text]
}

const UNITS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000 }

function milliseconds(text: string): number {
  if (text === '0') return 0
  const [, count, unit = ''] = /^(\d+)([smh])$/.exec(text) ?? []
  const size = UNITS[unit]
  if (size === undefined)
    throw new InvalidArgumentError('It must be a time such as 30s, 10m or 2h, or 0.')
  return Number(count) * size
}

/** `protime verify`: compares a warehouse with the service. */
export function addVerify(program: Command, act: Act): void {
  program
    .command('verify')
    .description('compare a warehouse with the service, row by row and field by field')
    .addOption(warehouseOption())
    .option(
      '--rows <file>',
      'rows of another warehouse as JSON lines, instead of a DuckDB file; - is stdin',
    )
    .option('--streams <names>', 'the streams to compare, separated by commas (default: all)')
    .option('--sync', 'sync the file before and after, so that only real differences remain')
    .option('--again <file>', 'compare again the rows that an earlier output named')
    .option('--limit <number>', 'print this many differences and count the others', wholeNumber)
    .addOption(
      new Option('--sql <dialect>', 'print the queries whose results --rows takes').choices(
        DIALECTS,
      ),
    )
    .addHelpText(
      'after',
      `\nRequests only lists, so no sync is disturbed. Values of rows are never printed.
Ends with 0 if nothing differs, and with 3 if something does. If a stream could not be compared, it ends with 2 if only a person
can correct that, and otherwise with 1.
${examples('verify', 'verify --sync', 'verify --sql postgres --streams people,clockings', 'verify --rows rows.jsonl')}`,
    )
    .action(async (options: VerifyOptions) => {
      const contradiction = ['rows', 'again', 'sql'].find((name) => name in options)
      if (options.sync === true && contradiction !== undefined)
        throw new UsageError(`--sync cannot be used with --${contradiction}`)
      const { refuseVerify, verifyAction } = await import('./verify-action.ts')
      await act(verifyAction(options), refuseVerify)
    })
}

function wholeNumber(text: string): number {
  if (!/^(0|[1-9]\d{0,8})$/.test(text)) throw new InvalidArgumentError('It must be a whole number.')
  return Number(text)
}

/** `protime explain`: the runbook, by the ids at the ends of messages. */
export function addExplain(program: Command, act: BareAct): void {
  program
    .command('explain [id]')
    .description('what a message means and what to do, by the id in brackets at its end')
    .addHelpText('after', `\nWithout an id, lists all ids.\n${examples('explain starts-over')}`)
    .action((id: string | undefined) =>
      act(async (tools) => {
        const { explain } = await import('./explain-action.ts')
        return explain(tools, id)
      }),
    )
}

/** `protime dbt init`: a dbt project for a warehouse of `protime sync`. */
export function addDbt(program: Command, act: BareAct): void {
  program
    .command('dbt')
    .description('make a dbt project for the warehouse, with one row per person and day')
    .command('init')
    .description('write a dbt project that reads the warehouse, ready for dbt build')
    .addOption(warehouseOption())
    .option('--project <folder>', 'where to write it', '.')
    .addHelpText(
      'after',
      `\nWrites dbt_project.yml, packages.yml and profiles.yml. An existing file is not touched. dbt build makes the models in
analytics/analytics.duckdb, a folder that only you can enter; it needs dbt-duckdb. For PostgreSQL it makes them in the schema
analytics of the same database; it needs dbt-postgres, and the password in PGPASSWORD.
${examples('dbt init', 'dbt init --warehouse acme.duckdb --project acme-models')}`,
    )
    .action((options: Pick<DbtInitOptions, 'project'> & { readonly warehouse?: string }) =>
      act(async (tools) => {
        const { dbtInit } = await import('./dbt-init-action.ts')
        return dbtInit(tools, await withWarehouse(program, options))
      }),
    )
}
