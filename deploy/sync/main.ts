import { constants } from 'node:os'
import { parseArgs } from 'node:util'
import { exitCodeOf, MISCONFIGURED } from './exit-code.ts'
import { asFailure } from './failure.ts'
import { type SyncResult, type SyncSettings, syncTenant } from './sync-tenant.ts'

/** How soon the end of the parent is noticed. */
const PARENT_MS = 1_000

const HELP = `Usage: sync-protime --config FILE --warehouse FILE [--source PROGRAM]
                    [--end-with-parent]

Reads one tenant with source-protime and loads it into a DuckDB file. Rows and states are
committed together; the next sync continues from the last commit.

  --config FILE      the tenant's configuration; its member _streams names the streams
                     to read, all when it is left out
  --warehouse FILE   the tenant's DuckDB file; made by the first sync
  --source PROGRAM   the program that reads (default source-protime, found on the PATH)
  --end-with-parent  stop, as at SIGTERM, when the process that started this one is gone

The log goes to stderr. The last line of stdout is the result as JSON.
Exit codes: 0 all is loaded; 1 try again; 2 only a person can mend it, do not try again.`

/** Runs one sync, prints its result and answers with the exit code. A signal ends it in good order. */
export async function main(args: readonly string[]): Promise<number> {
  const stop = new AbortController()
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    process.once(signal, () => stop.abort(signal))
  const startedAt = performance.now()
  const settings = settingsOf(args, stop)
  if (typeof settings === 'string') return usage(settings)
  const result = await attempt(settings)
  const seconds = Math.round((performance.now() - startedAt) / 10) / 100
  for (const { type, message } of result.failures) settings.say(`ERROR ${type}: ${message}`)
  process.stdout.write(`${JSON.stringify({ ...result, seconds })}\n`)
  if (stop.signal.aborted)
    return 128 + constants.signals[stop.signal.reason as 'SIGTERM' | 'SIGINT']
  return exitCodeOf(result.failures)
}

async function attempt(settings: SyncSettings): Promise<SyncResult> {
  try {
    return await syncTenant(settings)
  } catch (error) {
    return { records: 0, commits: 0, failures: [asFailure(error)] }
  }
}

/** What the arguments say, or what is to be printed in place of a sync. */
function settingsOf(args: readonly string[], stop: AbortController): SyncSettings | string {
  try {
    const text = { type: 'string' } as const
    const flag = { type: 'boolean' } as const
    const { values } = parseArgs({
      args: [...args],
      options: { config: text, warehouse: text, source: text, 'end-with-parent': flag, help: flag },
    })
    const { config, warehouse, source = 'source-protime', help } = values
    if (help === true) return HELP
    if (config === undefined || warehouse === undefined)
      return 'Give --config FILE and --warehouse FILE; see --help.'
    if (values['end-with-parent'] === true) endWithParent(stop)
    return {
      config,
      warehouse,
      source,
      signal: stop.signal,
      say: (line) => void process.stderr.write(`${line}\n`),
    }
  } catch (error) {
    return `${error instanceof Error ? error.message : error}; see --help.`
  }
}

/** A scheduler that is killed cannot end what it has started, and the next run would find it there. */
function endWithParent(stop: AbortController): void {
  const parent = process.ppid
  const look = () => {
    if (process.ppid !== parent) stop.abort('SIGTERM')
  }
  setInterval(look, PARENT_MS).unref()
}

function usage(text: string): number {
  if (text === HELP) {
    process.stdout.write(`${text}\n`)
    return 0
  }
  process.stderr.write(`${text}\n`)
  return MISCONFIGURED
}
