import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { fast, protocolModels } from './airbyte.ts'
import { execute as executeProgram, outputOf } from './command.ts'
import { dbtCases, dbtLandings } from './dbt.ts'
import { duckDbs } from './duckdb.ts'
import type { Engine, Tools } from './engine.ts'
import { openForks } from './forks.ts'
import { install } from './install.ts'
import { meltano } from './meltano/meltano.ts'
import { pyairbyte } from './pyairbyte.ts'
import { packedWheel, pythonWith } from './python.ts'
import { queues } from './queues.ts'
import { singerTools } from './singer-tools.ts'

/** Everybody who has to accept the connector; who takes longest comes first, so that nobody waits for them in the end. */
const engines: readonly Engine[] = [
  dbtCases,
  dbtLandings,
  meltano,
  pyairbyte,
  install,
  queues,
  fast,
  ...duckDbs,
  protocolModels,
  singerTools,
]
/** Each waits about half of its time for processes that have one thread. */
const AT_ONCE = 2

// The compiled script stands one folder deeper than its source, the Python programs beside the source.
const projectFolder = fileURLToPath(new URL('../../../', import.meta.url))
const programs = join(projectFolder, 'integration-tests', 'engines')

/** The outcome of one step; a fault is why it failed. */
interface StepOutcome {
  readonly step: string
  readonly seconds: number
  readonly fault?: string
}

type Tell = (outcome: StepOutcome) => void

/** Tries the steps of an engine, and tells each outcome as it comes. */
function stepsOf({ name: engine }: Engine, tell: Tell): Tools['step'] {
  return async (name, attempt) => {
    const step = `${engine}: ${name}`
    const began = performance.now()
    const seconds = () => Math.round((performance.now() - began) / 1000)
    try {
      const result = await attempt()
      tell({ step, seconds: seconds() })
      return result
    } catch (error) {
      const fault = error instanceof Error ? error.message : String(error)
      tell({ step, seconds: seconds(), fault })
      return undefined
    }
  }
}

/** Runs an engine whose Python environment there is. */
async function runEngine(engine: Engine, interpreter: string, step: Tools['step']): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'engine-'))
  const environment = environmentIn(folder, interpreter)
  const forks = openForks({
    interpreter,
    modules: engine.imports ?? [],
    program: join(programs, 'forks.py'),
    folder,
    environment: { ...process.env, ...environment },
  })
  const execute: Tools['execute'] = (command) =>
    engine.imports === undefined
      ? executeProgram({ program: interpreter, ...command })
      : forks.execute(command)
  try {
    const python: Tools['python'] = async (program, args) => {
      const command = { args: [resolve(programs, program), ...args], folder, environment }
      return outputOf(`${program} ${args.join(' ')}`, await execute(command))
    }
    const executable = join(projectFolder, 'bin', 'source-protime')
    const wheel = packedWheel(projectFolder)
    await engine.run({ executable, wheel, projectFolder, folder, python, execute, step })
  } finally {
    forks.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Variables for the programs of an engine. */
function environmentIn(folder: string, interpreter: string): Readonly<Record<string, string>> {
  return {
    // PyAirbyte calls uv, which is installed beside it.
    PATH: `${dirname(interpreter)}:${process.env['PATH']}`,
    // Whatever it keeps is gone with the folder, and it sends nothing to the outside.
    HOME: folder,
    TMPDIR: folder,
    XDG_CACHE_HOME: join(folder, '.cache'),
    AIRBYTE_OFFLINE_MODE: '1',
    DO_NOT_TRACK: '1',
    PYTHONDONTWRITEBYTECODE: '1',
  }
}

/** Runs the engines that the arguments name, or all; the exit code is 0 only if everything passed. */
async function main(names: readonly string[]): Promise<void> {
  const counts = { passed: 0, failed: 0 }
  const tell: Tell = ({ step, seconds, fault }) => {
    counts[fault === undefined ? 'passed' : 'failed'] += 1
    const [word, more] = fault === undefined ? ['ok   ', ''] : ['FAIL ', `${fault}\n`]
    process.stdout.write(`${word} ${step} (${seconds} s)\n${more}`)
  }
  const ready: (() => Promise<void>)[] = []
  // An installation stops this process, and with it the emulators of other engines.
  for (const engine of engines.filter(({ name }) => names.length === 0 || names.includes(name))) {
    const step = stepsOf(engine, tell)
    const install = async () => pythonWith(engine.environment ?? engine.name, engine.requirements)
    const interpreter = await step('installed', install)
    if (interpreter !== undefined) ready.push(() => runEngine(engine, interpreter, step))
  }
  const runNext = async () => {
    for (let run = ready.shift(); run !== undefined; run = ready.shift()) await run()
  }
  await Promise.all(Array.from({ length: AT_ONCE }, runNext))
  process.stdout.write(`${counts.passed} passed, ${counts.failed} failed\n`)
  process.exitCode = counts.failed === 0 && counts.passed > 0 ? 0 : 1
}

await main(process.argv.slice(2))
