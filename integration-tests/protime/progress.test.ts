import { once } from 'node:events'
import { lstatSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Emulator, startEmulator } from '../../emulator/emulator.ts'
import { runProtime } from '../../src/cli/main.ts'
import type { Io } from '../../src/protocol/program.ts'
import { createFakeTerminal } from '../../src/protocol/progress/testing/fake-terminal.ts'
import { temporaryFolder } from '../testing/files.ts'
import { createCollector, withoutTimes } from '../testing/output.ts'
import { type AirbyteOptions, run, start, tap } from '../testing/run.ts'
import { selecting } from '../testing/singer-messages.ts'

/** What the taps read: each would read the whole tenant otherwise. */
const catalog = selecting(['job_categories', 'people'])

let emulator: Emulator
beforeEach(async () => {
  emulator = await startEmulator({ people: 4, months: 1, pageSize: 2 })
})
afterEach(() => emulator.close())

function read(options: Partial<AirbyteOptions> = {}) {
  return run({
    program: 'source-protime',
    command: 'read',
    in: 'process',
    config: emulator.config(),
    catalog: ['job_categories', 'people'],
    ...options,
  })
}

/** A sync on a terminal: what it leaves there, and the run. */
async function onTerminal(options: Partial<AirbyteOptions> = {}) {
  const terminal = createFakeTerminal(80)
  const sync = await read({ stderr: terminal.stderr, ...options })
  return { ...sync, shown: terminal.shown() }
}

function estimates({ messages }: Awaited<ReturnType<typeof read>>) {
  return messages.flatMap(({ trace }) =>
    trace?.estimate === undefined ? [] : [[trace.estimate.name, trace.estimate.row_estimate]],
  )
}

describe('a sync on a terminal', () => {
  it('leaves a table that says how each stream was read, and why', async () => {
    const first = await onTerminal()
    expect(first.shown.split('\n')).toEqual([
      expect.stringMatching(/^stream +rows .* how$/),
      expect.stringMatching(/^job_categories +7 .* from the beginning: first sync$/),
      expect.stringMatching(/^people +4 .* from the beginning: first sync$/),
      expect.stringMatching(/^total +11 /),
      expect.stringMatching(/^\d requests$/),
      '',
    ])
    emulator.update('people', 1, { lastName: 'Peeters' })
    const second = await onTerminal({ state: first.state })
    expect(second.shown).toMatch(/^people +1 .* incremental$/m)
    expect(second.shown).toMatch(/^job_categories +7 .* whole list$/m)
    emulator.advance({ hours: 73 })
    const third = await onTerminal({ state: second.state })
    expect(third.shown).toMatch(/^people +4 .* from the beginning: expired link$/m)
  })

  it('shows nothing if it has to be quiet, or if the records are written to the terminal', async () => {
    expect((await onTerminal({ words: ['--quiet'] })).shown).toBe('')
    const stdout = Object.assign(createFakeTerminal(80).stderr, { isTTY: true })
    expect((await onTerminal({ stdout })).shown).toBe('')
  })

  it('shows the errors last, including those of a tap, in red', async () => {
    const terminal = createFakeTerminal(80)
    emulator.fail(/people/, 403)
    await tap({ in: 'process', config: emulator.config(), catalog, stderr: terminal.stderr })
    expect(terminal.written().split('\n').at(-2)).toMatch(
      /^.\[31mERROR people: .*in the catalog\. \(config\) \[permission-missing\].\[0m$/,
    )
  })
})

describe('protime sync', () => {
  let folder: ReturnType<typeof temporaryFolder>
  beforeEach(() => {
    folder = temporaryFolder()
  })
  afterEach(() => folder.remove())

  async function sync(config: object, ...words: readonly string[]) {
    const terminal = createFakeTerminal(80)
    await syncTo(config, terminal.stderr, words)
    return terminal.shown()
  }

  async function syncTo(config: object, stderr: Io['stderr'], words: readonly string[]) {
    const file = join(folder.path, 'config.json')
    writeFileSync(file, JSON.stringify(config), { mode: 0o600 })
    const warehouse = join(folder.path, 'x.duckdb')
    const argv = ['sync', '--config', file, '--warehouse', warehouse, '--streams', 'people']
    await runProtime([...argv, ...words], { stdout: createCollector(), stderr, env: {} })
  }

  it('shows the same on a terminal, without further lines', async () => {
    expect(await sync(emulator.config())).toMatch(
      /^stream +rows .*\npeople +4 .* from the beginning: first sync\ntotal .*\n\d+ requests\n$/,
    )
  })

  it('writes the same as lines elsewhere, each with its time', async () => {
    const stderr = createCollector()
    await syncTo(emulator.config(), stderr, [])
    expect(withoutTimes(stderr.text())).toMatch(/^INFO people: 4 records in .*: first sync\.$/m)
  })

  it('is silent if it has to be quiet and nothing fails, on a terminal and elsewhere', async () => {
    const stderr = createCollector()
    await syncTo(emulator.config(), stderr, ['--quiet'])
    expect([stderr.text(), await sync(emulator.config(), '--quiet')]).toEqual(['', ''])
  })

  it('also writes metrics, even for an invalid configuration', async () => {
    const file = join(folder.path, 'protime.prom')
    await sync(emulator.config(), '--metrics', file)
    expect(readFileSync(file, 'utf8')).toMatch(/^protime_sync_success\{program="protime",.*\} 1$/m)
    await sync({ tenant: 7 }, '--metrics', file)
    expect(readFileSync(file, 'utf8')).toMatch(/^protime_sync_success\{program="protime"\} 0$/m)
  })
})

describe('what a sync expects', () => {
  it('is the number of rows in the last complete read, without changes', async () => {
    const first = await read()
    expect(estimates(first)).toEqual([])
    const second = await read({ state: first.state })
    expect(estimates(second)).toEqual([['job_categories', 7]])
    emulator.advance({ hours: 73 })
    const third = await read({ state: second.state })
    expect(estimates(third)).toEqual([
      ['job_categories', 7],
      ['people', 4],
    ])
  })

  it('is the remaining number after an interrupted read', async () => {
    const first = await read({ catalog: ['people'] })
    emulator.advance({ hours: 73 })
    const cut = await read({ catalog: ['people'], state: first.state, killAfter: 9 })
    const last = await read({ catalog: ['people'], state: cut.state })
    expect(estimates(last)).toEqual([['people', 2]])
  })
})

describe('the log of a sync', () => {
  it('says how it begins and how each stream ended, unless it has to be quiet', async () => {
    const { logs } = await read()
    const lines = logs.map((line) => line.replace(/\d+\.\d s/, '_ s'))
    expect(lines.slice(0, -1)).toEqual([
      expect.stringMatching(
        /^INFO source-protime \d+\.\d+\.\d+, tenant \w+, 2 streams: 2 from the beginning\.$/,
      ),
      'INFO job_categories: 7 records in _ s, from the beginning: first sync.',
      'INFO people: 4 records in _ s, from the beginning: first sync.',
    ])
    const quiet = await read({ words: ['--quiet'] })
    expect(quiet.logs).toEqual([expect.stringMatching(/^INFO Sync finished: 2 streams/)])
  })

  it('says which streams continue by the time of the service, whatever the clock of the host', async () => {
    const old = await startEmulator({ people: 4, months: 1, now: '2020-11-20T03:00:00Z' })
    const { state } = await read({ config: old.config() })
    const { logs } = await read({ config: old.config(), state })
    await old.close()
    expect(logs[0]).toMatch(/, 2 streams: 1 to continue, 1 as whole lists\.$/)
  })

  it('says where the next sync continues if a sync is stopped', async () => {
    emulator.fault(/people/, 'hang')
    const { ended, until, heard, child } = start({
      program: 'source-protime',
      command: 'read',
      config: emulator.config(),
      catalog: ['job_categories', 'people'],
    })
    await until(() => heard().includes('COMPLETE'), 'a stream is complete')
    child.kill('SIGINT')
    expect((await ended).stdout).toContain(
      'Stopped by SIGINT. Written: 7 records, 1 of 2 streams complete. The next sync continues from the last state that was stored.',
    )
  })
})

it('a tap measures its sync in METRIC lines', async () => {
  const { stderr } = await tap({
    in: 'process',
    config: emulator.config(),
    catalog,
    environment: { TAP_PROTIME_LOG_LEVEL: 'info' },
  })
  const points = [...stderr.matchAll(/METRIC: (.*)/g)].map(([, json]) => JSON.parse(String(json)))
  const named = (metric: string) => points.filter((point) => point.metric === metric)
  expect(named('sync_duration')).toContainEqual({
    type: 'timer',
    metric: 'sync_duration',
    value: expect.any(Number),
    tags: { stream: 'people', status: 'succeeded' },
  })
  expect(named('http_request_count')).toEqual([
    { type: 'counter', metric: 'http_request_count', value: emulator.requests.length, tags: {} },
  ])
  expect(points.slice(-6).map(({ metric }) => metric)).toEqual([
    'http_request_count',
    'http_retry_count',
    'http_throttled_count',
    'http_response_bytes',
    'http_request_duration',
    'job_duration',
  ])
})

describe('the metrics of a sync', () => {
  const folder = temporaryFolder()
  const file = join(folder.path, 'protime.prom')
  const metrics = () => readFileSync(file, 'utf8')
  afterEach(() => writeFileSync(file, ''))
  afterAll(() => folder.remove())

  it('are in the file in an option or a variable', async () => {
    await read({ words: ['--metrics', file] })
    expect(metrics()).toContain('protime_sync_success{program="source-protime",tenant="')
    expect(metrics()).toMatch(/^protime_sync_stream_rows\{.*stream="people"\} 4$/m)
    const environment = { PROTIME_METRICS_FILE: file }
    await tap({ in: 'process', config: emulator.config(), catalog, environment })
    expect(metrics()).toContain('protime_sync_success{program="tap-protime"')
  })

  it('count the requests for each stream, also repeated ones', async () => {
    const requested = (path: RegExp) =>
      emulator.requests.filter((one) => path.test(one.path)).length
    emulator.fail(/people/, 503, { times: 2 })
    await read({ words: ['--metrics', file] })
    const counted = /^protime_sync_stream_requests\{.*stream="(\w+)"\} (\d+)$/gm
    expect([...metrics().matchAll(counted)].map(([, ...count]) => count)).toEqual([
      ['job_categories', String(requested(/job-categories/))],
      ['people', String(requested(/people/))],
    ])
    expect(requested(/people/)).toBeGreaterThan(2)
  })

  it('include failures, and keep the times at which the streams were complete', async () => {
    const words = ['--metrics', file]
    await read({ words })
    const complete = /^protime_sync_stream_last_complete.*stream="people"\} .*$/m
    const [time] = complete.exec(metrics()) ?? []
    emulator.fail(/people/, 403)
    await read({ words })
    expect(metrics()).toMatch(/^protime_sync_failures\{.*kind="config"\} 1$/m)
    expect(metrics()).toMatch(/^protime_sync_stream_failed\{.*stream="people"\} 1$/m)
    expect(complete.exec(metrics())?.[0]).toBe(time)
    await read({ words, config: { tenant: 7 }, catalog: [] })
    expect(metrics()).toMatch(/^protime_sync_success\{program="source-protime"\} 0$/m)
    expect(complete.exec(metrics())?.[0]).toBe(time)
  })

  it('do not follow a link in their place', async () => {
    const other = join(folder.path, 'other')
    writeFileSync(other, 'of somebody else')
    rmSync(file, { force: true })
    symlinkSync(other, file)
    await read({ words: ['--metrics', file] })
    expect(metrics()).toContain('protime_sync_success')
    expect(readFileSync(other, 'utf8')).toBe('of somebody else')
  })

  it('leave every other file beside them: another sync may be writing it', async () => {
    const others = [`${file}.protime-0123456789ab`, `${file}.${process.pid}.tmp`]
    for (const name of others) writeFileSync(name, 'half of a file')
    await read({ words: ['--metrics', file] })
    expect(others.map((name) => readFileSync(name, 'utf8'))).toEqual(
      others.map(() => 'half of a file'),
    )
  })

  const notReplaced = expect.stringContaining(
    'has no metrics of an earlier sync, so it is not replaced',
  )

  it('do not take the place of another file', async () => {
    writeFileSync(file, 'a warehouse')
    const { errors } = await read({ words: ['--metrics', file], catalog: [] })
    expect(errors.map(({ message }) => message)).toEqual([notReplaced])
    expect(metrics()).toBe('a warehouse')
    expect(emulator.requests).toEqual([])
  })

  it('do not take the place of what is no file', async () => {
    const device = join(folder.path, 'device')
    const listening = createServer().listen(device)
    await once(listening, 'listening')
    const { errors } = await read({ words: ['--metrics', device], catalog: [] })
    expect(errors.map(({ message }) => message)).toEqual([
      expect.stringContaining('device is no regular file'),
    ])
    expect(lstatSync(device).isSocket()).toBe(true)
    listening.close()
  })

  it('can be read by their collector, whatever the umask of a schedule', async () => {
    const mask = process.umask(0o077)
    await read({ words: ['--metrics', file] }).finally(() => process.umask(mask))
    expect(lstatSync(file).mode & 0o777).toBe(0o644)
  })

  it('do not take the place of a file that appears during the sync', async () => {
    rmSync(file)
    emulator.onRequest(() => writeFileSync(file, 'a warehouse'))
    await read({ words: ['--metrics', file] })
    expect(metrics()).toBe('a warehouse')
  })

  it('stop a sync before it begins if their folder does not exist', async () => {
    const { errors } = await read({
      words: ['--metrics', join(folder.path, 'no', 'x.prom')],
      catalog: [],
    })
    expect(errors.map(({ message }) => message)).toEqual([
      expect.stringContaining('The file given by --metrics cannot be written (ENOENT)'),
    ])
    expect(emulator.requests).toEqual([])
  })
})
