import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { guideBlock } from '../../scripts/guide-blocks.ts'
import { packageFolder } from '../../src/ground/project-files.ts'
import { airbyteFaults } from '../../src/protocol/acceptance/airbyte-faults.ts'
import type { Message, SingerMessage } from '../../src/protocol/acceptance/messages.ts'
import { singerFaults } from '../../src/protocol/acceptance/singer-faults.ts'
import { temporaryFolder } from '../testing/files.ts'
import { ask } from '../testing/protime.ts'
import { parseLines } from '../testing/run.ts'

const PAGE = 'docs/building-a-source.md'
const TOKEN = 'open-sesame'
const PAGE_SIZE = 2

interface Order {
  readonly id: number
  readonly status: string
  readonly total?: number
}

/** What the page says of the shop's API; each third request fails, by its status or in its body. */
interface Shop {
  /** Changes of orders, in their order. */
  orders: Order[]
  categories: string[]
  /** Cursors of before have another epoch, and are gone. */
  epoch: number
  /** The total of order 4 in its own digits. */
  digits: string | undefined
  /** Whether the third page of orders never comes. */
  isSlow: boolean
  requests: number
  readonly address: string
}

async function startShop(): Promise<Shop> {
  const shop = {
    orders: [1, 2, 3, 4, 5].map((id): Order => ({ id, status: 'paid', total: id * 1.5 })),
    categories: ['Books', 'Maps', 'Pens'],
    epoch: 1,
    digits: undefined as string | undefined,
    isSlow: false,
    requests: 0,
  }
  shop.orders.push({ id: 2, status: 'deleted' }, { id: 3, status: 'sent', total: 4.5 })
  const server = createServer(({ url = '', headers }, response) => {
    const { pathname, searchParams } = new URL(url, 'http://shop')
    const say = (status: number, body: object) =>
      response
        .writeHead(status)
        .end(JSON.stringify(body).replace('"total":6}', `"total":${shop.digits ?? 6}}`))
    if (headers.authorization !== `Bearer ${TOKEN}`) return say(401, {})
    if (++shop.requests % 3 === 0) {
      if (shop.requests % 2 === 0) return say(503, {})
      return response.writeHead(200, { 'content-length': 9 }).write('{', () => response.destroy())
    }
    if (pathname === '/categories') {
      const page = Number(searchParams.get('page'))
      const all = shop.categories.map((name, i) => ({ id: i + 1, name }))
      const items = all.slice((page - 1) * PAGE_SIZE, page * PAGE_SIZE)
      return say(200, { items, pages: Math.ceil(all.length / PAGE_SIZE) })
    }
    const cursor = searchParams.get('cursor')?.split('-') ?? []
    const [epoch = shop.epoch, from = 0] = cursor.map(Number)
    if (epoch !== shop.epoch) return say(410, {})
    if (shop.isSlow && from >= 2 * PAGE_SIZE) return response
    const to = Math.min(from + PAGE_SIZE, shop.orders.length)
    const isMore = to < shop.orders.length
    return say(200, { items: shop.orders.slice(from, to), cursor: `${epoch}-${to}`, isMore })
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  onTestFinished(() => server.close().closeAllConnections())
  const { port } = server.address() as AddressInfo
  return Object.assign(shop, { address: `http://127.0.0.1:${port}` })
}

let folder: string
let shop: Shop
let packageJson: string | undefined
beforeEach(async () => {
  const { path, remove } = temporaryFolder()
  onTestFinished(remove)
  folder = path
  // As the page says, but once, because npm takes long; what it would install is there already.
  const install = guideBlock('sh install', PAGE)
  const packages = /^npm install (.+)\n/m
  const [, names = ''] = packages.exec(install) ?? []
  if (packageJson !== undefined) write('package.json', packageJson)
  else expect((await follow(install.replace(packages, ''))).exitCode).toBe(0)
  packageJson = read('package.json')
  mkdirSync(join(folder, 'node_modules/@duckdb'), { recursive: true })
  for (const name of names.split(' ')) {
    const own = name === 'source-protime' ? '' : join('node_modules', name)
    symlinkSync(join(packageFolder(), own), join(folder, 'node_modules', name))
  }
  mkdirSync(join(folder, 'node_modules/.bin'))
  symlinkSync(join(packageFolder(), 'bin/protime'), join(folder, 'node_modules/.bin/protime'))
  for (const name of ['shop', 'fake-shop', 'source-shop', 'tap-shop', 'sync-shop'])
    write(`${name}.js`, guideBlock(`js ${name}`, PAGE))
  shop = await startShop()
  for (const file of ['config.json', 'test-config.json'])
    write(file, { address: shop.address, token: TOKEN })
})

function write(file: string, content: string | object): void {
  const text = typeof content === 'string' ? content : JSON.stringify(content)
  writeFileSync(join(folder, file), text)
}

const read = (file: string) => readFileSync(join(folder, file), 'utf8')

async function follow(lines: string) {
  const running = promisify(execFile)('sh', ['-e', '-c', lines], { cwd: folder })
  type Failed = { code: number; stdout: string; stderr: string }
  return running.then(
    (said) => ({ exitCode: 0, ...said }),
    ({ code: exitCode, ...said }: Failed) => ({ exitCode, ...said }),
  )
}

/** A command line of a program of the shop, and the file that takes what it prints. */
interface ShopCommand {
  readonly run: 'runAirbyte' | 'runSinger'
  readonly argv: readonly string[]
  readonly file?: string
}

/** Commands in one process, one after the other; each process costs more than all it reads. */
const RUNS = `import { writeFileSync } from 'node:fs'
import { Writable } from 'node:stream'
import * as protocol from 'source-protime/protocol'
import { shop } from './shop.js'

function collector() {
  const chunks = []
  const stream = new Writable({ write: (chunk, _encoding, done) => done(void chunks.push(chunk)) })
  return { stream, text: () => Buffer.concat(chunks).toString() }
}

const runs = []
for (const { run, argv, file } of JSON.parse(process.argv[2])) {
  const [out, error] = [collector(), collector()]
  const exitCode = await protocol[run](argv, shop, { stdout: out.stream, stderr: error.stream })
  runs.push({ exitCode, stdout: out.text(), stderr: error.text() })
  if (file !== undefined) writeFileSync(file, out.text())
}
console.log(JSON.stringify(runs))
`

type Ended = Awaited<ReturnType<typeof follow>>

async function runEach(commands: readonly ShopCommand[]): Promise<Ended[]> {
  write('runs.js', RUNS)
  const { stdout } = await follow(`node runs.js '${JSON.stringify(commands)}'`)
  return JSON.parse(stdout)
}

const CONFIG = ['--config', 'config.json']
const DISCOVER: ShopCommand = {
  run: 'runAirbyte',
  argv: ['discover', ...CONFIG],
  file: 'catalog.json',
}
const READ: ShopCommand = {
  run: 'runAirbyte',
  argv: ['read', ...CONFIG, '--catalog', 'catalog.json'],
}
const TAP: ShopCommand = { run: 'runSinger', argv: CONFIG }

const STREAMS = ['orders', 'categories']
type Row = Readonly<Record<string, unknown>>
type Written = readonly (readonly [stream: string, row: Row])[]

/** What records leave of each stream, by key: what came last counts, and a deleted row is gone. */
function rowsOf(written: Written): Record<string, unknown[]> {
  const rows = new Map<string, Row>()
  for (const [stream, row] of written) {
    const isGone = row['_ab_cdc_deleted_at'] ?? row['_sdc_deleted_at'] ?? null
    const at = `${stream} ${row['id']}`
    if (isGone === null) rows.set(at, row)
    else rows.delete(at)
  }
  return Object.fromEntries(
    STREAMS.map((stream) => [
      stream,
      [...rows]
        .filter(([at]) => at.startsWith(stream))
        .map(([, { id, status, name }]) => [id, status ?? name])
        .toSorted(),
    ]),
  )
}

const TRUTH = {
  orders: [
    [1, 'paid'],
    [3, 'sent'],
    [4, 'paid'],
    [5, 'paid'],
  ],
  categories: [
    [1, 'Books'],
    [2, 'Maps'],
    [3, 'Pens'],
  ],
}

const secrets = [TOKEN]
const ofAirbyte = (messages: readonly Message[]): Written =>
  messages.flatMap(({ record }) => (record ? [[record.stream, record.data] as const] : []))
const ofSinger = (messages: readonly SingerMessage[]): Written =>
  messages.flatMap((message) =>
    message.type === 'RECORD' ? [[message.stream, message.record] as const] : [],
  )

describe('the source of docs/building-a-source.md', () => {
  it('is read over both protocols and into DuckDB by the commands of the page', async () => {
    const { exitCode, stdout, stderr } = await follow(guideBlock('sh run', PAGE))
    expect([exitCode, stdout.split('\n')]).toEqual([
      0,
      [
        expect.stringContaining('"message":"The shop can be read."'),
        '{"records":10,"failures":[]}',
        '',
      ],
    ])
    expect(stderr).not.toContain(TOKEN)
    const { catalog = { streams: [] } } = JSON.parse(read('catalog.json')) as Message
    const airbyte = { exitCode: 0, stdout: read('messages.jsonl'), stderr: '', catalog, secrets }
    const singer = { exitCode: 0, stdout: read('singer.jsonl'), stderr, secrets }
    expect([airbyteFaults(airbyte, 'read'), singerFaults(singer)]).toEqual([[], []])
    expect(rowsOf(ofAirbyte(parseLines(airbyte.stdout)))).toEqual(TRUTH)
    expect(rowsOf(ofSinger(parseLines<SingerMessage>(singer.stdout)))).toEqual(TRUTH)
    const file = join(folder, 'shop.duckdb')
    expect(await ask(file, 'SELECT id::INTEGER AS id, status FROM orders ORDER BY id')).toEqual(
      TRUTH.orders.map(([id, status]) => ({ id, status })),
    )
    expect(catalog.streams.map(({ name, supported_sync_modes: modes }) => [name, modes])).toEqual([
      ['orders', ['full_refresh', 'incremental']],
      ['categories', ['full_refresh']],
    ])
  })

  it('needs no other shop than that of the page', async () => {
    unlinkSync(join(folder, 'test-config.json'))
    const child = spawn(process.execPath, ['fake-shop.js'], { cwd: folder, stdio: 'inherit' })
    onTestFinished(() => void child.kill())
    await expect.poll(() => read('test-config.json')).toBeTruthy()
    const { exitCode, stdout } = await follow(guideBlock('sh run', PAGE))
    expect(exitCode).toBe(0)
    expect(stdout).toMatch(/{"records":3,"failures":\[\]}\n$/)
    const again = (await follow(guideBlock('sh again', PAGE))).stdout
    expect(again).toMatch(/\n{"records":2,"failures":\[\]}\n +id .*\n +2 +new +3 .*\n$/)
    const deleted = /"id":1,"status":"deleted",.*"_(ab_cdc|sdc)_deleted_at":"2/g
    expect(again.match(deleted)).toHaveLength(2)
  })

  it('loses nothing if it is cut after any STATE of Airbyte and continued', async () => {
    const [, whole] = await runEach([DISCOVER, READ])
    const messages = parseLines((whole as Ended).stdout)
    const { catalog = { streams: [] } } = JSON.parse(read('catalog.json')) as Message
    const cuts = messages.flatMap(({ type }, i) => (type === 'STATE' ? [i + 1] : []))
    expect(cuts.length).toBeGreaterThan(4)
    for (const cut of cuts) {
      const states = new Map(
        messages
          .slice(0, cut)
          .flatMap(({ state }) =>
            state ? [[state.stream.stream_descriptor.name, { ...state }] as const] : [],
          ),
      )
      write(`state-${cut}.json`, [...states.values()])
    }
    const runs = await runEach(
      cuts.map((cut) => ({ ...READ, argv: [...READ.argv, '--state', `state-${cut}.json`] })),
    )
    for (const [i, cut] of cuts.entries()) {
      const run = runs[i] as Ended
      expect(airbyteFaults({ ...run, catalog, secrets }, 'read')).toEqual([])
      const [before, after] = [messages.slice(0, cut), parseLines(run.stdout)]
      expect(rowsOf([...ofAirbyte(before), ...ofAirbyte(after)]), `cut at ${cut}`).toEqual(TRUTH)
    }
  })

  it('loses nothing if it is cut after any STATE of Singer and continued', async () => {
    const [whole] = await runEach([TAP])
    const messages = parseLines<SingerMessage>((whole as Ended).stdout)
    const cuts = messages.flatMap(({ type }, i) => (type === 'STATE' ? [i + 1] : []))
    expect(cuts.length).toBeGreaterThan(4)
    for (const cut of cuts) {
      const last = messages[cut - 1]
      write(`state-${cut}.json`, last?.type === 'STATE' ? last.value : {})
    }
    const runs = await runEach(
      cuts.map((cut) => ({ ...TAP, argv: [...TAP.argv, '--state', `state-${cut}.json`] })),
    )
    for (const [i, cut] of cuts.entries()) {
      const run = runs[i] as Ended
      expect(singerFaults({ ...run, secrets })).toEqual([])
      const [before, after] = [messages.slice(0, cut), parseLines<SingerMessage>(run.stdout)]
      expect(rowsOf([...ofSinger(before), ...ofSinger(after)]), `cut at ${cut}`).toEqual(TRUTH)
    }
  })

  it('brings changes into DuckDB, and deletes rows that a complete read does not find', async () => {
    await follow('node sync-shop.js')
    shop.orders.push({ id: 6, status: 'new', total: 1 }, { id: 1, status: 'deleted' })
    shop.categories.pop()
    // The generation of a list that is read whole is a second.
    await sleep(1_000)
    expect((await follow('node sync-shop.js')).stdout).toBe('{"records":4,"failures":[]}\n')
    const file = join(folder, 'shop.duckdb')
    const ids = async (table: string) =>
      (await ask(file, `SELECT id::INTEGER AS id FROM ${table} ORDER BY id`)).map(({ id }) => id)
    expect([await ids('orders'), await ids('categories')]).toEqual([
      [3, 4, 5, 6],
      [1, 2],
    ])
    shop.epoch++
    shop.orders = [{ id: 7, status: 'new', total: 2 }]
    await sleep(1_000)
    await follow('node sync-shop.js')
    expect(await ids('orders')).toEqual([7])
    // No cursor of it is known again.
    shop.epoch = -1
    shop.orders.push({ id: 8, status: 'new' }, { id: 9, status: 'new' })
    expect((await follow('node sync-shop.js')).stdout).toContain('forgets cursors too soon')
    expect(await ids('orders')).toEqual([7])
  })

  it('reports a refused token as a config error, and ends each stream', async () => {
    write('config.json', { address: shop.address, token: 'expired-token' })
    const check = { ...DISCOVER, argv: ['check', ...CONFIG], file: 'check.jsonl' }
    const runs = await runEach([DISCOVER, check, READ, TAP])
    const { catalog = { streams: [] } } = JSON.parse(read('catalog.json')) as Message
    expect(parseLines(read('check.jsonl')).map(({ connectionStatus }) => connectionStatus)).toEqual(
      [{ status: 'FAILED', message: 'The shop refused the token. Make a new one. [x-token]' }],
    )
    const run = runs[2] as Ended
    expect(airbyteFaults({ ...run, catalog, secrets: ['expired-token'] }, 'read')).toEqual([])
    const failures = parseLines(run.stdout).flatMap(({ trace }) => trace?.error?.failure_type ?? [])
    expect([run.exitCode, failures]).toEqual([1, ['config_error', 'config_error']])
    const tap = runs[3] as Ended
    expect([tap.exitCode, singerFaults({ ...tap, secrets: ['expired-token'] })]).toEqual([1, []])
    const sync = await follow('node sync-shop.js')
    expect([sync.exitCode, sync.stderr]).toEqual([2, expect.stringContaining('orders: The shop')])
    expect(sync.stderr + sync.stdout).not.toContain('expired-token')
  })

  it('passes numbers on with all of their digits', async () => {
    shop.digits = '9007199254740993'
    await follow('node sync-shop.js')
    const [one] = await ask(
      join(folder, 'shop.duckdb'),
      'SELECT total_json FROM orders WHERE id = 4',
    )
    expect(one).toEqual({ total_json: '9007199254740993' })
  })

  it('refuses a record without a key, and stores none of it', async () => {
    shop.orders.push({ status: 'new', total: 1 } as Order)
    const { exitCode, stdout } = await follow('node sync-shop.js')
    expect([exitCode, stdout]).toEqual([1, expect.stringContaining('a record has no id')])
    const file = join(folder, 'shop.duckdb')
    expect(await ask(file, 'FROM orders WHERE id IS NULL')).toEqual([])
  })

  it('ends after a commit with the signal that stopped it', async () => {
    shop.isSlow = true
    const child = spawn(process.execPath, ['sync-shop.js'], { cwd: folder, stdio: 'ignore' })
    await expect.poll(() => shop.requests, { timeout: 20_000 }).toBeGreaterThan(2)
    child.kill('SIGTERM')
    expect(await once(child, 'exit')).toEqual([null, 'SIGTERM'])
    const [states] = await ask(
      join(folder, 'shop.duckdb'),
      'SELECT count(*)::INTEGER AS n FROM _protime.states',
    )
    expect(states).toEqual({ n: 1 })
  })

  it('tells a wrong command line, and its options', async () => {
    expect((await follow('node sync-shop.js --full')).exitCode).toBe(2)
    const { exitCode, stdout } = await follow('node sync-shop.js --help')
    expect([exitCode, stdout]).toEqual([0, expect.stringContaining('--full-refresh')])
  })

  it('has a test that passes unchanged', async () => {
    write('shop.test.js', guideBlock('js shop-test', PAGE))
    const { exitCode, stdout } = await follow(guideBlock('sh test', PAGE))
    expect([exitCode, stdout]).toEqual([0, expect.stringMatching(/pass 1\b/)])
  })
})
