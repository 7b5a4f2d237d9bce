import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, relative } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { productionPackages } from '../../scripts/bill-of-materials.ts'
import { guideBlock, installText } from '../../scripts/guide-blocks.ts'
import { packageFolder } from '../../src/ground/project-files.ts'
import { sign } from '../../src/webhooks/receive/delivery.ts'
import {
  answersOf,
  catalogOf,
  countRecords,
  execute,
  expectSame,
  freePort,
  output,
  start,
} from '../engines/command.ts'
import { packedArchive, type Trial } from './trial.ts'

const NEEDED =
  /^(LICENSE|NOTICE|CHANGELOG\.md|README\.md|package\.json|(spec|write-settings|runbook)\.json|dist\/((scan|rows)\.wasm|validators\.cjs|airbyte-message\.cjs)|docs\/building-a-source\.md)$/
const ALLOWED =
  /^(bin\/[a-z-]+|schemas\/([a-z_]+\.json|webhook-records\.d\.ts)|dbt\/[a-z_/]+\.(sql|yml)|dbt\/README\.md|dist\/(src|emulator)\/.+\.(js|d\.ts))$/
const WRONG = /(^|\/)(testing|test-[^/]*|stale[^/]*)(\/|$)|\.test\./

/** Installs the package for npm where nothing is, and uses it as others do. */
export async function tryNpmPackage({ project, folder, tenant, step, note }: Trial): Promise<void> {
  const archive = packedArchive(project)
  await step('the package has what belongs to it alone', async () => {
    const list = await output({ program: 'tar', args: ['-tzf', archive], folder: project })
    const files = list
      .trim()
      .split('\n')
      .map((path) => path.replace('package/', ''))
    const needed = files.filter((path) => NEEDED.test(path))
    expectSame(needed.length, 13)
    const others = files.filter((path) => !NEEDED.test(path))
    expectSame(
      others.filter((path) => !ALLOWED.test(path) || WRONG.test(path)),
      [],
    )
  })
  await tryReadme(archive, { project, folder, tenant, step, note })
  const home = join(folder, 'npm')
  mkdirSync(home)
  writeFileSync(join(home, 'package.json'), '{"type":"module"}')
  const npm = ['install', '--ignore-scripts', '--no-audit', '--no-fund', archive]
  const isInstalled = await step('npm install needs no script', async () => {
    await output({ program: 'npm', args: npm, folder: home })
    const names = readdirSync(join(home, 'node_modules')).filter((name) => !name.startsWith('.'))
    const expected = [...productionPackages().map(({ name }) => name), 'source-protime']
    expectSame(names.toSorted(), expected.toSorted())
    return true
  })
  if (!isInstalled) return
  const inPackage = join(home, 'node_modules/source-protime')
  const { bin, exports } = JSON.parse(readFileSync(join(inPackage, 'package.json'), 'utf8')) as {
    bin: Readonly<Record<string, string>>
    exports: Readonly<Record<string, string | Readonly<Record<string, string>>>>
  }
  const run = (name: string, ...args: readonly string[]) =>
    execute({ program: join(home, 'node_modules/.bin', name), args, folder: home })
  for (const name of Object.keys(bin))
    await step(`${name} --help`, async () => expectSame((await run(name, '--help')).exitCode, 0))
  await step('source-protime brings every record', async () => {
    writeFileSync(join(home, 'config.json'), JSON.stringify(tenant.config), { mode: 0o600 })
    writeFileSync(join(home, 'catalog.json'), JSON.stringify(catalogOf(tenant.streams)))
    const files = ['--config', 'config.json', '--catalog', 'catalog.json']
    const answers = answersOf(await run('source-protime', 'read', ...files))
    for (const stream of tenant.streams)
      expectSame(countRecords(answers, stream), (await tenant.truth(stream)).length)
  })
  const node = (text: string) =>
    execute({ program: process.execPath, args: ['--input-type=module', '-e', text], folder: home })
  for (const [entry, target] of Object.entries(exports)) {
    const name = entry.replace('.', 'source-protime')
    if (entry === './package.json') continue
    await step(`${name} can be imported and has types`, async () => {
      const { exitCode, stderr } = await node(`await import('${name}')`)
      if (exitCode !== 0) throw new Error(stderr)
      const types = typeof target === 'string' ? undefined : target['types']
      readFileSync(join(inPackage, types ?? 'no types'))
    })
  }
  await step('nothing else can be imported', async () => {
    const { stderr } = await node("await import('source-protime/dist/src/errors.js')")
    if (!stderr.includes('ERR_PACKAGE_PATH_NOT_EXPORTED')) throw new Error(stderr)
  })
  await step('source-protime/webhooks needs nothing but Node', async () => {
    const alone = join(folder, 'alone')
    cpSync(inPackage, join(alone, 'node_modules/source-protime'), { recursive: true })
    const text = "await import('source-protime/webhooks')"
    const args = ['--input-type=module', '-e', text]
    await output({ program: process.execPath, args, folder: alone })
  })
  await step('a receiver of somebody else compiles against it, and receives', async () => {
    const name = 'webhook-receiver.ts'
    copyFileSync(
      join(packageFolder(), 'integration-tests/packages/consumer', name),
      join(home, name),
    )
    await compile(home, name)
    const args = ['webhook-receiver.js']
    const said = await output({ program: process.execPath, args, folder: home })
    const outcome = { statusCode: 200, collection: 'clockings', id: 4712 }
    expectSame(JSON.parse(said), { ...outcome, isNewest: true, day: '2026-02-03' })
  })
  await step('the declarations satisfy TypeScript 5.4, with nothing left unchecked', async () => {
    const old = join(folder, 'typescript')
    mkdirSync(old)
    writeFileSync(join(old, 'package.json'), '{"type":"module"}')
    const install = [...npm, '--silent', 'typescript@5.4', '@types/node@20']
    await output({ program: 'npm', args: install, folder: old })
    const entries = Object.keys(exports).filter((entry) => entry !== './package.json')
    const imports = entries.map(
      (entry) => `export * from '${entry.replace('.', 'source-protime')}'`,
    )
    for (const [i, line] of imports.entries()) writeFileSync(join(old, `entry-${i}.ts`), line)
    const words = ['--strict', '--noEmit', '--module', 'nodenext', '--target', 'es2022']
    const files = imports.map((_, i) => `entry-${i}.ts`)
    const args = ['tsc', ...words, '--lib', 'es2023,esnext.disposable', ...files]
    await output({ program: 'npx', args, folder: old })
  })
  await step('a Worker without compatibility flags receives', () => tryWorker(folder, archive))
  await step('a connector of somebody else compiles against it, and keeps the rules', async () => {
    for (const name of ['source-planets.ts', 'planets-test.ts']) {
      const from = join(packageFolder(), 'integration-tests/packages/consumer', name)
      copyFileSync(from, join(home, name))
      await compile(home, name)
    }
    const program = process.execPath
    const said = await output({ program, args: ['planets-test.js'], folder: home })
    // They are no messages of Singer.
    expectSame(said, '2 records, a message of type LOG\n')
  })
  await step('the page that builds a source is in the package', () => {
    readFileSync(join(inPackage, 'docs/building-a-source.md'))
  })
  await step('a program of somebody else compiles against the client, and asks', async () => {
    const name = 'work-locations.ts'
    copyFileSync(
      join(packageFolder(), 'integration-tests/packages/consumer', name),
      join(home, name),
    )
    await compile(home, name)
    const program = process.execPath
    const { stdout } = await execute({ program, args: ['work-locations.js'], folder: home })
    expectSame(Number(stdout), (await tenant.truth('work_locations')).length)
  })
}

/** The lines of README in an empty folder, with the packed package for the published one. */
async function tryReadme(archive: string, { folder, tenant, step }: Trial): Promise<void> {
  const home = join(folder, 'readme')
  mkdirSync(home)
  const packed = (words: string) =>
    guideBlock(words, 'README.md').trim().replaceAll('-p source-protime', `-p ${archive}`)
  const type = (commands: string) =>
    output({ program: 'sh', args: ['-e', '-c', commands], folder: home })
  const [init = '', sync = ''] = packed('sh npx').split('\n')
  await step("README's two lines make a warehouse of a tenant", async () => {
    const { base_url, api_name } = tenant.config['environment'] as Record<string, string>
    const answers = ['demo', base_url, '', api_name, 'connector', 'emulator-secret']
    writeFileSync(join(home, 'answers'), `${answers.join('\n')}\n`)
    await type(`${init} < answers`)
    await type(sync)
    await type(sync.replace(/sync$/, 'verify'))
  })
  await step('docs/install.md makes a warehouse with npm install', async () => {
    const project = join(folder, 'warehouse')
    mkdirSync(project)
    writeFileSync(join(project, 'package.json'), '{}')
    cpSync(join(home, 'answers'), join(project, 'answers'))
    const lines = installText('sh', 'warehouse').replace(' source-protime ', ` ${archive} `)
    const typed = lines.replace('protime init', 'protime init < answers')
    await output({ program: 'sh', args: ['-e', '-c', typed], folder: project })
    await output({ program: 'npx', args: ['protime', 'verify'], folder: project })
  })
  await step("README's line for people without a tenant makes one to sync", async () => {
    for (const name of ['config.json', 'protime.duckdb']) rmSync(join(home, name))
    // Other ports, because somebody may have an emulator at the usual ones.
    const line = `${packed('sh emulator')} --port 0 --control-port 0 --people 5 --months 1`
    // A group of its own, because npx passes no signal on.
    const emulator = spawn('sh', ['-c', line], { cwd: home, stdio: 'ignore', detached: true })
    const ended = once(emulator, 'close')
    try {
      while (!existsSync(join(home, 'config.json'))) await sleep(100)
      await type(sync)
    } finally {
      process.kill(-(emulator.pid ?? 0), 'SIGTERM')
      await ended
    }
  })
}

/** With the project's compiler and types of Node, and nothing of it left unchecked. */
async function compile(folder: string, name: string): Promise<void> {
  const compiler = createRequire(import.meta.url).resolve('typescript/package.json')
  const types = join(packageFolder(), 'node_modules/@types')
  const options = ['--strict', '--module', 'nodenext', '--target', 'es2023', '--types', 'node']
  const args = [join(compiler, '../bin/tsc'), ...options, '--typeRoots', types, name]
  await output({ program: process.execPath, args, folder })
}

const PATH = '/hooks/people/Vb2nR7tQxYw0ZkLm3cHs'
const KEY = 'k3y-é/+='
/** Before any of the flags by which a Worker gets what Node has. */
const COMPATIBILITY_DATE = '2023-03-01'

/** What a queue of the platform would be: it tells what it got. */
const MAIN = `import worker from './worker.js'
const QUEUE = { send: async (event) => console.log(JSON.stringify(event)) }
export default { fetch: (request, env) => worker.fetch(request, { ...env, QUEUE }) }
`

/**
 * Runs the Worker of docs/library.md in workerd, with the packed package for the published one. workerd is
 * installed here and is no dependency: it has 160 MB.
 */
async function tryWorker(parent: string, archive: string): Promise<void> {
  const folder = join(parent, 'worker')
  mkdirSync(folder)
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  writeFileSync(join(folder, 'worker.js'), guideBlock('js worker', 'docs/library.md'))
  writeFileSync(join(folder, 'main.js'), MAIN)
  const args = ['install', '--ignore-scripts', '--no-audit', '--no-fund', archive, 'workerd']
  await output({ program: 'npm', args, folder })
  const port = await freePort()
  writeFileSync(join(folder, 'worker.capnp'), configuration(folder, port))
  // The program itself: that of npm starts it as another process, which would go on.
  const find = ['-p', "require('workerd').default"]
  const workerd = await output({ program: process.execPath, args: find, folder })
  const line = `'${workerd.trim()}' serve worker.capnp`
  const worker = start(line, { folder, environment: {} })
  try {
    await answers(port)
    const body = '{"id":7,"changeVersion":"00A","firstName":"Zoë"}'
    expectSame(await deliver(port, body, await sign(body, KEY)), 200)
    expectSame(await deliver(port, body, await sign(body, 'another key')), 401)
    const [told = ''] = worker.said().split('\n')
    expectSame(JSON.parse(told), {
      collection: 'people',
      id: 7,
      data: JSON.parse(body) as unknown,
    })
  } finally {
    await worker.kill()
  }
}

async function deliver(port: number, body: string, authorization: string): Promise<number> {
  const url = `http://127.0.0.1:${port}${PATH}`
  return (await fetch(url, { method: 'POST', headers: { authorization }, body })).status
}

async function answers(port: number): Promise<void> {
  const isUp = () => deliver(port, '', '').then(Boolean, () => false)
  for (let tries = 0; !(await isUp()); tries++) {
    if (tries === 100) throw new Error('workerd did not start')
    await sleep(100)
  }
}

/** What workerd is started with: it finds no modules by itself. */
function configuration(folder: string, port: number): string {
  const root = 'node_modules/source-protime'
  const { exports } = JSON.parse(readFileSync(join(folder, root, 'package.json'), 'utf8')) as {
    readonly exports: Readonly<Record<string, { readonly default: string }>>
  }
  const entry = join(root, exports['./webhooks']?.default ?? '')
  const modules = reachable(folder, entry).map((file) => {
    // Names are resolved against that of the module that imports.
    const name = join('source-protime', relative(dirname(entry), file))
    return [file === entry ? 'source-protime/webhooks' : name, file] as const
  })
  const list = [['main.js', 'main.js'], ['worker.js', 'worker.js'], ...modules].map(
    ([name, file]) => `(name = "${name}", esModule = embed "${file}")`,
  )
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = .worker)],
  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "main")]
);
const worker :Workerd.Worker = (
  compatibilityDate = "${COMPATIBILITY_DATE}",
  bindings = [(name = "WEBHOOK_PATH", text = "${PATH}"), (name = "WEBHOOK_KEY", text = "${KEY}")],
  modules = [${list.join(',\n')}]
);
`
}

/** A file and all that it imports, by paths below the folder. */
function reachable(folder: string, file: string, found = new Set<string>()): string[] {
  if (found.has(file)) return []
  found.add(file)
  const text = readFileSync(join(folder, file), 'utf8')
  for (const [, to = ''] of text.matchAll(/from '([^']+)'/g))
    reachable(folder, join(dirname(file), to), found)
  return [...found]
}
