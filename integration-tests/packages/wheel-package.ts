import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { guideBlock } from '../../scripts/guide-blocks.ts'
import { packageVersion } from '../../src/ground/project-files.ts'
import { INVENTORY } from '../../src/streams/streams.ts'
import {
  answersOf,
  catalogOf,
  countRecords,
  type Ended,
  execute,
  expectSame,
  output,
} from '../engines/command.ts'
import { type InstalledWheel, installWheel, packedWheel, pythonWith } from '../engines/python.ts'
import type { Trial } from './trial.ts'

const TWINE = ['twine==7.0.0']
const LARGEST_BYTES = 3_000_000
/** When most schedulers send SIGKILL after SIGTERM. */
const KILL_MS = 10_000

/** Installs the wheel where nothing is, and uses it as others do. */
export async function tryWheel({ project, folder, tenant, step, note }: Trial): Promise<void> {
  await step('the wheel is small', () => {
    const { length } = readFileSync(packedWheel(project))
    if (length > LARGEST_BYTES) throw new Error(`${length} bytes`)
  })
  const wheel = await step('pip install', () =>
    installWheel(packedWheel(project), join(folder, 'environment')),
  )
  if (wheel === undefined) return
  await tryInstalled(wheel, { project, folder, tenant, step, note })
  await tryWithDuckDb(wheel, { project, folder, tenant, step, note })
}

/** The lines of README for pip, with the wheels of this clone for the published ones. */
async function tryWithDuckDb(wheel: InstalledWheel, { project, folder, tenant, step }: Trial) {
  const home = join(folder, 'wheel-duckdb')
  mkdirSync(home)
  writeFileSync(join(home, 'config.json'), JSON.stringify(tenant.config), { mode: 0o600 })
  const bin = dirname(wheel.protime)
  const type = (commands: string) =>
    execute({
      program: 'sh',
      args: ['-e', '-c', commands],
      folder: home,
      environment: { PATH: `${bin}:${process.env['PATH']}` },
    })
  const [install = '', init, sync = ''] = guideBlock('sh pip', 'README.md').trim().split('\n')
  const missing = "pip install 'source-protime[duckdb]'"
  await step('protime sync without DuckDB says what pip has to install', async () => {
    const { exitCode, stderr } = await type(sync)
    expectSame([exitCode, stderr.includes(`Run: ${missing}`)], [2, true])
  })
  const found = join(project, 'python', 'duckdb', 'dist')
  await step('npm run pack:duckdb makes a wheel for this platform', async () => {
    await output({ program: 'npm', args: ['run', '--silent', 'pack:duckdb'], folder: project })
    expectSame(readdirSync(found).length, 1)
  })
  await step('PyPI takes the metadata and the pages of both wheels', async () => {
    const duckDb = readdirSync(found).map((name) => join(found, name))
    const args = ['-m', 'twine', 'check', '--strict', packedWheel(project), ...duckDb]
    await output({ program: pythonWith('twine', TWINE), args, folder })
  })
  await step('pip install brings DuckDB by the name of an extra', async () => {
    expectSame([install, init, sync], [missing, 'protime init', 'protime sync'])
    const here = install.replace('source-protime', packedWheel(project))
    answersOk(await type(here.replace('install', `install --quiet --find-links ${found}`)))
  })
  await step('protime sync makes a warehouse that equals the service', async () => {
    answersOk(await type(sync))
    answersOk(await type('protime verify'))
  })
}

function answersOk({ exitCode, stdout, stderr }: Ended): void {
  if (exitCode !== 0) throw new Error(`exit code ${exitCode}\n${stdout}\n${stderr}`.slice(-2000))
}

async function tryInstalled(wheel: InstalledWheel, { folder, tenant, step, note }: Trial) {
  const home = join(folder, 'wheel')
  mkdirSync(home)
  writeFileSync(join(home, 'config.json'), JSON.stringify(tenant.config), { mode: 0o600 })
  writeFileSync(join(home, 'catalog.json'), JSON.stringify(catalogOf(tenant.streams)))
  const files = ['--config', 'config.json', '--catalog', 'catalog.json']
  // No Node but the one that pip has brought.
  const environment = { PATH: home }
  const run = (program: string, ...args: readonly string[]) =>
    execute({ program, args, folder: home, environment })
  await step('pip has brought Node 24', async () => {
    const version = (await run(wheel.node, '--version')).stdout.trim()
    if (!version.startsWith('v24.')) throw new Error(version)
    note(version)
  })
  await step('source-protime brings every record', async () => {
    const answers = answersOf(await run(wheel.source, 'read', ...files))
    for (const stream of tenant.streams)
      expectSame(countRecords(answers, stream), (await tenant.truth(stream)).length)
  })
  await step('tap-protime brings every stream', async () => {
    const answers = answersOf(await run(wheel.tap, '--config', 'config.json'))
    const read = new Set(answers.flatMap(({ type, stream }) => (type === 'RECORD' ? stream : [])))
    expectSame([...read].toSorted(), [...tenant.streams, INVENTORY.stream].toSorted())
  })
  await step('protime lists the work locations', async () => {
    const answers = answersOf(
      await run(wheel.protime, 'work-locations', 'list', '--config', 'config.json'),
    )
    expectSame(answers.length, (await tenant.truth('work_locations')).length)
  })
  await step('destination-protime and target-protime start', async () => {
    expectSame(answersOf(await run(wheel.destination, 'spec')).length, 1)
    expectSame(
      (await run(wheel.target, '--version')).stdout,
      `target-protime v${packageVersion()}\n`,
    )
  })
  await step('source-protime passes the exit code on', async () =>
    expectSame((await run(wheel.source, 'read', '--config', 'missing.json')).exitCode, 1),
  )
  await step('the process becomes Node and ends by SIGTERM in mid-read', async () => {
    tenant.emulator.fault('/people', 'slow', { ms: 5 * KILL_MS })
    const child = spawn(wheel.source, ['read', ...files], {
      cwd: home,
      env: environment,
      stdio: ['ignore', 'pipe', 'ignore'],
      timeout: 5 * KILL_MS,
    })
    await once(child.stdout, 'data')
    child.stdout.resume()
    expectSame(readlinkSync(`/proc/${child.pid}/exe`), wheel.node)
    const since = performance.now()
    child.kill('SIGTERM')
    expectSame(await once(child, 'close'), [null, 'SIGTERM'])
    const took = Math.round(performance.now() - since)
    if (took > KILL_MS) throw new Error(`it took ${took} ms`)
    note(`after ${took} ms`)
  })
  tenant.emulator.clearFaults()
}
