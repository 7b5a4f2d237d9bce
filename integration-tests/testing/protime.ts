import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import type { Emulator } from '../../emulator/emulator.ts'
import { runProtime } from '../../src/cli/main.ts'
import { temporaryFolder, writeFiles } from './files.ts'
import { createCollector } from './output.ts'

const PROGRAM = fileURLToPath(new URL('../../bin/protime', import.meta.url))

/** How a command of `protime` ended. */
export interface ProtimeRun {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
}

/** Runs a command of `protime` in this process. */
export async function protime(...argv: readonly string[]): Promise<ProtimeRun> {
  const [stdout, stderr] = [createCollector(), createCollector()]
  const exitCode = await runProtime(argv, { stdout, stderr, env: {} })
  return { exitCode, stdout: stdout.text(), stderr: stderr.text() }
}

/** A process of `bin/protime`. */
export interface ProtimeChild {
  readonly child: ChildProcess
  /** What it has said on stderr so far. */
  log(): string
  /** Ends when nobody holds its output any more. */
  readonly ended: Promise<{ readonly exitCode: number | string; readonly stdout: string }>
}

/** Starts `bin/protime`; behind `shell`, or by Node with more words. */
export function startProtime(
  argv: readonly string[],
  { shell = [], node = [] }: { shell?: readonly string[]; node?: readonly string[] } = {},
): ProtimeChild {
  const [program = '', ...words] = [...shell, process.execPath, ...node, PROGRAM, ...argv]
  const child = spawn(program, words, { stdio: ['ignore', 'pipe', 'pipe'] })
  let [stdout, stderr] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  const ended = once(child, 'close').then(([code, signal]) => ({
    exitCode: (code ?? signal) as number | string,
    stdout,
  }))
  return { child, log: () => stderr, ended }
}

/** Opens a DuckDB file for a while. */
export async function withDuckDb<T>(
  path: string,
  use: (connection: DuckDBConnection) => Promise<T>,
): Promise<T> {
  const instance = await DuckDBInstance.create(path)
  const connection = await instance.connect()
  try {
    return await use(connection)
  } finally {
    connection.closeSync()
    instance.closeSync()
  }
}

/** What a question in SQL is answered, by column. */
export function ask(path: string, sql: string): Promise<Record<string, unknown>[]> {
  return withDuckDb(path, (connection) => askOf(connection)(sql))
}

/** Asks a file that is open. */
export function askOf(connection: DuckDBConnection) {
  return async (sql: string): Promise<Record<string, unknown>[]> =>
    (await connection.runAndReadAll(sql)).getRowObjectsJson()
}

/** What a run of `protime verify` said. */
export interface VerifyRun {
  readonly exitCode: number
  readonly differences: readonly Readonly<Record<string, unknown>>[]
  readonly summary: Readonly<Record<string, unknown>>
  readonly stdout: string
  readonly stderr: string
}

/** Runs `protime verify` in this process. */
export async function verify(...words: readonly string[]): Promise<VerifyRun> {
  const { exitCode, stdout, stderr } = await protime('verify', ...words)
  const lines = stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>)
  return { exitCode, differences: lines.slice(0, -1), summary: lines.at(-1) ?? {}, stdout, stderr }
}

/**
 * What a warehouse and its service have not in common, as `protime verify` says it; `words` name the warehouse. It has the
 * service's records from the connector's own code: `compare.ts` and the histories compare with what the emulator holds.
 */
export async function verifiedDifferences(
  config: object,
  ...words: readonly string[]
): Promise<string[]> {
  const folder = temporaryFolder()
  try {
    const [, file = ''] = writeFiles(folder.path, { config })
    const { exitCode, differences, stderr } = await verify('--config', file, ...words)
    if (exitCode !== 0 && differences.length === 0) return [`protime verify failed: ${stderr}`]
    return differences.map((difference) => JSON.stringify(difference))
  } finally {
    folder.remove()
  }
}

/** The requests of a delta that the emulator was asked for. */
export function deltasOf({ requests }: Emulator): string[] {
  return requests
    .map(({ path, query }) => `${path}?${query}`)
    .filter((text) => text.includes('delta'))
}
