import { copyFileSync, existsSync, rmSync } from 'node:fs'
import { DuckDBConnection } from '@duckdb/node-api'

/** What a killed process may leave of a warehouse. */
const ENDINGS = ['', '.wal', '.rewrite', '.rewrite.wal']
/** How a shell tells the end by SIGKILL. */
const KILLED = 137

/**
 * Runs a sync into a warehouse as if its process was killed after so many commits: nothing more is written, the files are
 * as they were then, and the service is asked for hardly anything more. Returns the exit code; 0 commits let the sync live.
 */
export async function killedAfter(
  commits: number,
  file: string,
  sync: () => Promise<number>,
): Promise<number> {
  if (commits === 0) return sync()
  const { run } = DuckDBConnection.prototype
  let left = commits
  DuckDBConnection.prototype.run = async function (sql, ...others) {
    if (left === 0 && !sql.startsWith('SELECT')) throw new Error('IO Error: the process was killed')
    const result = await run.call(this, sql, ...others)
    if (sql === 'COMMIT' && --left === 0) move(file, keptOf(file))
    return result
  }
  try {
    const exitCode = await sync()
    if (left > 0) return exitCode
  } finally {
    DuckDBConnection.prototype.run = run
  }
  move(keptOf(file), file)
  return KILLED
}

const keptOf = (file: string) => `${file}.killed`

function move(from: string, to: string): void {
  for (const ending of ENDINGS) {
    rmSync(`${to}${ending}`, { force: true })
    if (existsSync(`${from}${ending}`)) copyFileSync(`${from}${ending}`, `${to}${ending}`)
  }
}
