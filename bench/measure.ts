import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ServerOptions } from './server.ts'

/** What a finished process took. */
export interface Cost {
  readonly seconds: number
  readonly cpuSeconds: number
  readonly peakMegabytes: number
}

/** A line of a benchmark with a goal; the run fails when the goal is missed. */
export interface Judged {
  readonly line: string
  readonly isMet: boolean
}

export interface MeasureOptions {
  /** A shell command that the output is piped into. */
  readonly reader?: string
  /** The exit code that the program has to end with. */
  readonly exitCode?: number
  /** The interpreter, by default Node. With any other, the program itself writes its cost to the file BENCH_COST. */
  readonly interpreter?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  /** Whether its stderr is left out. */
  readonly isQuiet?: boolean
}

const NODE = [process.execPath, '--import', here('report-cost.js')]

/** Runs a program and measures it, without its reader. Throws if it ends with another exit code. */
export async function measure(
  program: readonly string[],
  options: MeasureOptions = {},
): Promise<Cost> {
  const {
    reader = 'cat > /dev/null',
    exitCode = 0,
    interpreter = NODE,
    env = {},
    isQuiet = false,
  } = options
  const folder = mkdtempSync(join(tmpdir(), 'bench-'))
  const file = join(folder, 'cost.json')
  try {
    const command = `${[...interpreter, ...program].map(quoted).join(' ')} | ${reader}`
    const shell = spawn('bash', ['-o', 'pipefail', '-c', command], {
      stdio: ['ignore', 'ignore', isQuiet ? 'ignore' : 'inherit'],
      env: { ...process.env, ...env, BENCH_COST: file, BENCH_STARTED: String(Date.now() / 1000) },
    })
    const [ended] = await once(shell, 'close')
    if (ended !== exitCode) throw new Error(`${program[0]} ended with exit code ${ended}`)
    return JSON.parse(readFileSync(file, 'utf8')) as Cost
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** A benchmark server in a process of its own. */
export interface BenchServer {
  readonly origin: string
  stop(): Promise<void>
}

export async function startServer(options: ServerOptions): Promise<BenchServer> {
  const child: ChildProcess = spawn(
    process.execPath,
    [here('server.js'), JSON.stringify(options)],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  const [port] = await once(child.stdout as NodeJS.ReadableStream, 'data')
  return {
    origin: `http://127.0.0.1:${String(port).trim()}`,
    async stop() {
      child.kill()
      await once(child, 'close')
    },
  }
}

/** The path of a compiled file in this folder. */
export function here(name: string): string {
  return new URL(name, import.meta.url).pathname
}

/** The median of one figure of a program over all rounds. */
export type Medians<Name extends string> = (name: Name, figure: keyof Cost) => number

/** Runs the programs in turn, an odd number of rounds, so that a busy machine slows all of them alike. */
export async function inTurn<Name extends string>(
  rounds: number,
  programs: Readonly<Record<Name, () => Promise<Cost>>>,
): Promise<Medians<Name>> {
  const names = Object.keys(programs) as Name[]
  const costs = new Map(names.map((name) => [name, [] as Cost[]]))
  for (let round = 0; round < rounds; round++) {
    for (const name of names) costs.get(name)?.push(await programs[name]())
  }
  return (name, figure) => median((costs.get(name) ?? []).map((cost) => cost[figure]))
}

/** What some millions of records cost, and how many there are. */
export interface Measured<Name extends string> {
  readonly of: Medians<Name>
  readonly millions: number
}

/** What each further million costs, because half of the first one is start-up. */
export function further<Name extends string>(few: Measured<Name>, many: Measured<Name>) {
  return (name: Name, figure: 'seconds' | 'cpuSeconds') =>
    (many.of(name, figure) - few.of(name, figure)) / (many.millions - few.millions)
}

/** A line with the throughput, the CPU time and the memory of a program that has read this many records. */
export function rateLine<Name extends string>(
  name: Name,
  records: number,
  of: Medians<Name>,
): string {
  const rate = Math.round(records / of(name, 'seconds'))
  const cpu = (of(name, 'cpuSeconds') / (records / 1e6)).toFixed(2)
  const peak = of(name, 'peakMegabytes').toFixed(0)
  return `${name.padEnd(13)} ${rate} records/s, ${cpu} CPU s/million, peak ${peak} MB`
}

/** The peak of a program's memory, with the figure that it has to stay under. */
export function peakLine(what: string, peakMegabytes: number, limit: number): Judged {
  return {
    line: `${what}: peak ${peakMegabytes.toFixed(0)} MB (under ${limit})`,
    isMet: peakMegabytes < limit,
  }
}

function median(figures: readonly number[]): number {
  return [...figures].sort((a, b) => a - b)[figures.length >> 1] ?? Number.NaN
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`
}
