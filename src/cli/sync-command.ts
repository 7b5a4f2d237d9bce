import { type Command, InvalidArgumentError } from 'commander'
import type { Act } from './command.ts'
import type { SyncOptions } from './sync-action.ts'

/** `protime sync`: reads a tenant into a DuckDB file. */
export function addSync(program: Command, act: Act): void {
  program
    .command('sync')
    .description('read a tenant into a DuckDB file; later runs read the changes')
    .option('--warehouse <file>', 'the file; the first sync creates it', 'protime.duckdb')
    .option('--streams <names>', 'the streams to read, separated by commas (default: all)')
    .option('--full-refresh', 'read the streams from the beginning')
    .option(
      '--rewrite',
      'read everything into a new file that replaces this one; needed after stricter settings of personal data',
    )
    .option('--keep-deleted', 'keep deleted rows in the tables, with the time in _deleted_at')
    .option(
      '--wait <time>',
      'wait this long while another process has the warehouse open: 30s, 10m, 2h',
      milliseconds,
    )
    .option('--publish <file>', 'make a copy for readers after each complete sync')
    .option(
      '--metrics <file>',
      'write metrics of the sync for Prometheus (or set PROTIME_METRICS_FILE)',
    )
    .option('--end-with-parent', 'stop, as after SIGTERM, when the parent process is gone')
    .action(async (options: SyncOptions) => {
      // The parent may be gone before anything else is loaded.
      const parent = process.ppid
      const { refuseSync, syncAction } = await import('./sync-action.ts')
      await act(syncAction(options, parent), refuseSync(options))
    })
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
