import { execFile, execFileSync, spawn, spawnSync } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Emulator, startEmulator } from '../../emulator/emulator.ts'
import { protocolFaults } from '../../src/protocol/acceptance/airbyte-faults.ts'
import type { Message } from '../../src/protocol/acceptance/messages.ts'
import { type Child, executableOf } from '../testing/child.ts'
import { writeFiles } from '../testing/files.ts'
import { parseLines, run, start as startProgram } from '../testing/run.ts'

const EXECUTABLE = executableOf('source-protime')

const STREAM = 'job_categories'
const PATH = '/job-categories'

let emulator: Emulator
let live: Child | undefined
let folder: string

beforeEach(async () => {
  emulator = await startEmulator({ people: 3, months: 1 })
  folder = mkdtempSync(join(tmpdir(), 'processes-'))
})

afterEach(async () => {
  await live?.stop()
  live = undefined
  await emulator.close()
  rmSync(folder, { recursive: true, force: true })
})

function start(): Child {
  live = startProgram({
    program: 'source-protime',
    command: 'read',
    config: emulator.config(),
    catalog: [STREAM],
  })
  return live
}

function asked(path: string, times = 1): () => boolean {
  return () => emulator.requests.filter((request) => request.path === path).length >= times
}

/** Pages of 200 KB without an end. */
function endlessPages(): void {
  let page = 0
  emulator.respond(PATH, () => {
    const value = Array.from({ length: 1000 }, (_, i) => ({
      id: page * 1000 + i,
      changeVersion: 'v',
      text: 'x'.repeat(150),
    }))
    const nextLink = `/connector/protimeapi/api/v1${PATH}?continuationToken=${++page}`
    return { status: 200, body: JSON.stringify({ value, nextLink }) }
  })
}

/** A read of endless pages that waits for its reader, who has stopped reading. */
async function startUnread(): Promise<Child> {
  endlessPages()
  const read = start()
  await read.until(() => read.bytes() > 300_000, 'some lines')
  read.pause()
  // Nothing is asked for any more: the process is waiting.
  let requests = -1
  await read.until(() => {
    const isQuiet = requests === emulator.requests.length
    requests = emulator.requests.length
    return isQuiet && requests > 3
  }, 'a full pipe')
  return read
}

function wholeLines(stdout: string): Message[] {
  expect(stdout === '' || stdout.endsWith('\n')).toBe(true)
  const messages = parseLines(stdout)
  expect(messages.map(protocolFaults).filter(Boolean)).toEqual([])
  return messages
}

/** What the process does in each phase: how to get it there, and how to know that it is. */
const phases: (readonly [name: string, bring: () => void, isThere: () => boolean])[] = [
  [
    'while it waits for its token',
    () => emulator.fault('/connect/token', 'hang'),
    () => asked('/connect/token')(),
  ],
  ['while it waits for headers', () => emulator.fault(PATH, 'hang'), () => asked(PATH)()],
  [
    'within a body',
    () => emulator.fault(PATH, 'slow', { ms: 20_000 }),
    () => asked(PATH)() && (live?.heard().includes('STARTED') ?? false),
  ],
  ['while it waits to try again', () => emulator.fail(PATH, 503), () => asked(PATH, 2)()],
  [
    'while the service makes it wait',
    () => emulator.fail(PATH, 429, { headers: { 'retry-after': '600' } }),
    () => live?.heard().includes('RATE_LIMITED') ?? false,
  ],
  ['while it reads page after page', endlessPages, () => (live?.bytes() ?? 0) > 1_000_000],
]

/** Both signals go one way, so one phase is enough for the second. */
const stopped = [
  ...phases.map((phase) => ['SIGTERM', ...phase] as const),
  ...phases.slice(-1).map((phase) => ['SIGINT', ...phase] as const),
]

describe('a signal', () => {
  it.each(stopped)('%s stops a read at once %s', async (signal, _name, bring, isThere) => {
    bring()
    const { child, ended, until, endsSoonAfter } = start()
    await until(isThere, 'the phase to stop in')
    const end = await endsSoonAfter(() => child.kill(signal), ended)
    expect({ ...end, stdout: '' }).toEqual({ exitCode: null, signal, stdout: '', stderr: '' })
    const messages = wholeLines(end.stdout)
    expect(messages.filter(({ trace }) => trace?.error !== undefined)).toEqual([])
  })
})

describe('a reader that does not read', () => {
  it('does not keep the process alive after SIGTERM', async () => {
    const { child, exited, endsSoonAfter } = await startUnread()
    expect(await endsSoonAfter(() => child.kill('SIGTERM'), exited)).toBe('SIGTERM')
  })

  it('does not delay a second signal', async () => {
    const { child, exited, endsSoonAfter } = await startUnread()
    child.kill('SIGINT')
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect(await endsSoonAfter(() => child.kill('SIGINT'), exited)).toBe('SIGINT')
  })
})

describe('a slow reader', () => {
  it('gets only whole lines if the process is stopped while it waits for the reader', async () => {
    const { child, ended, endsSoonAfter, resume } = await startUnread()
    const end = await endsSoonAfter(() => {
      child.kill('SIGTERM')
      setTimeout(resume, 200)
    }, ended)
    expect([end.exitCode, end.signal, end.stderr]).toEqual([null, 'SIGTERM', ''])
    wholeLines(end.stdout)
  })

  it('gets all of a large page, which waits at the service in the meantime', async () => {
    const record = (id: number) => JSON.stringify({ id, changeVersion: 'v', text: 'y'.repeat(200) })
    const part = (at: number) =>
      Buffer.from(Array.from({ length: 300 }, (_, i) => `${record(at * 300 + i)},`).join(''))
    let sent = 0
    emulator.respond(PATH, () => ({
      status: 200,
      body: (async function* () {
        yield Buffer.from('{"value":[')
        for (; sent < 500; sent++) yield part(sent)
        yield Buffer.from(`${record(150_000)}]}`)
      })(),
    }))
    const { bytes, pause, resume, until, ended } = start()
    await until(() => bytes() > 300_000, 'some lines')
    pause()
    let before = -1
    await until(() => {
      const isQuiet = sent === before
      before = sent
      return isQuiet
    }, 'a full pipe')
    // 37 MB in all: what nobody reads is not fetched.
    expect(sent).toBeLessThan(300)
    resume()
    const { exitCode, stdout } = await ended
    expect([exitCode, stdout.split('"type":"RECORD"').length - 1]).toEqual([0, 150_001])
  })
})

describe('a reader that goes away', () => {
  const leavings: typeof phases = [
    [
      'before the first line',
      () => emulator.fault('/connect/token', 'slow', { ms: 300 }),
      () => asked('/connect/token')(),
    ],
    [
      'before the headers of a page',
      () => {
        emulator.options.latencyMs = 300
      },
      () => asked(PATH)(),
    ],
    ['within a body', () => emulator.fault(PATH, 'slow', { ms: 500 }), () => asked(PATH)()],
    ['before another attempt', () => emulator.fail(PATH, 503, { times: 2 }), () => asked(PATH)()],
    ['between pages', endlessPages, () => (live?.bytes() ?? 0) > 1_000_000],
  ]
  it.each(leavings)('%s ends the process at its next line', async (_name, bring, isThere) => {
    bring()
    const { ended, until, endsSoonAfter, leave } = start()
    await until(isThere, 'the phase to leave in')
    const end = await endsSoonAfter(leave, ended)
    expect([end.exitCode === 0, end.signal, end.stderr]).toEqual([false, null, ''])
  })

  it('ends a process at once that waits for it', async () => {
    const { ended, endsSoonAfter, leave } = await startUnread()
    const end = await endsSoonAfter(leave, ended)
    expect([end.exitCode, end.signal, end.stderr]).toEqual([1, null, ''])
  })

  it.each(['spec', 'discover'])('during %s ends it quietly', async (command) => {
    const options = writeFiles(folder, { config: emulator.config() })
    const child = spawn(EXECUTABLE, [command, ...(command === 'spec' ? [] : options)], {
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let stderr = ''
    child.stderr.on('data', (chunk: Buffer) => {
      stderr += chunk
    })
    child.stdout.destroy()
    const exitCode = await new Promise((resolve) => child.on('close', resolve))
    expect([exitCode, stderr]).toEqual([1, ''])
  })
})

describe('a program that is still loading', () => {
  const PROGRAMS = [
    ['source-protime', 'dist/src/protocol/airbyte/entrypoint.js'],
    ['tap-protime', 'dist/src/protocol/singer/tap.js'],
    ['protime-emulator', 'dist/emulator/main.js'],
  ] as const
  it.each(PROGRAMS)('ends at SIGTERM: %s', async (name, module) => {
    mkdirSync(join(folder, 'bin'))
    copyFileSync(join(dirname(EXECUTABLE), name), join(folder, 'bin', name))
    mkdirSync(dirname(join(folder, module)), { recursive: true })
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
    writeFileSync(
      join(folder, module),
      "process.kill(process.pid, 'SIGTERM'); await new Promise((done) => setTimeout(done, 9000))",
    )
    const child = spawn(process.execPath, [join(folder, 'bin', name)])
    // An exit code, because the first process of a container does not die by a signal.
    expect(await new Promise((resolve) => child.on('close', resolve))).toBe(143)
  })
})

describe('the surroundings of a read', () => {
  const expectAll = (stdout: string) => {
    expect(stdout).toMatch(/\n$/)
    const messages = parseLines(stdout)
    expect(messages.map(protocolFaults).filter(Boolean)).toEqual([])
    const records = messages.filter(({ type }) => type === 'RECORD')
    expect(records.length).toBe(emulator.all('job-categories').length)
  }
  const files = (only: object = { catalog: [STREAM] }) =>
    writeFiles(folder, { config: emulator.config(), ...only })
  const args = () => ['read', ...files()]

  it('may be a file as its output', async () => {
    const path = join(folder, 'out.jsonl')
    const child = spawn(EXECUTABLE, args(), { stdio: ['ignore', openSync(path, 'w'), 'inherit'] })
    expect(await new Promise((resolve) => child.on('close', resolve))).toBe(0)
    expectAll(readFileSync(path, 'utf8'))
  })

  it('may be a pipe of a shell that closes its input', async () => {
    const script = '"$0" "$@" <&- | cat'
    const { stdout, stderr } = await promisify(execFile)('sh', [
      '-c',
      script,
      EXECUTABLE,
      ...args(),
    ])
    expect(stderr).toBe('')
    expectAll(stdout)
  })

  it('may be a folder that is not writable, without a home folder', async () => {
    const closed = mkdtempSync(join(tmpdir(), 'closed-'))
    chmodSync(closed, 0o555)
    for (const cwd of [closed, '/']) {
      const { stdout } = await promisify(execFile)(EXECUTABLE, args(), { cwd })
      expectAll(stdout)
    }
    rmSync(closed, { recursive: true })
  })

  it.each([
    ['source-protime', args],
    ['tap-protime', () => files({})],
  ] as const)('may be a full disk, of which %s says one sentence', async (name, argsOf) => {
    const program = join(dirname(EXECUTABLE), name)
    const child = spawn(program, argsOf(), {
      stdio: ['ignore', openSync('/dev/full', 'w'), 'pipe'],
    })
    let stderr = ''
    child.stderr?.on('data', (chunk: Buffer) => {
      stderr += chunk
    })
    expect(await new Promise((resolve) => child.on('close', resolve))).toBe(1)
    expect(stderr).toBe(
      'The output cannot be written: no space is left on the disk. The next sync continues from the last state that was stored. [output-not-written]\n',
    )
  })

  it.each(['debug', 'DEBUG', 'nonsense', ''])('may have the LOG_LEVEL %j', async (level) => {
    const { stdout, stderr } = await run({
      program: 'source-protime',
      command: 'read',
      in: 'process',
      config: emulator.config(),
      catalog: [STREAM],
      environment: { LOG_LEVEL: level },
    })
    expect(stderr).toBe('')
    expectAll(stdout)
  })

  it('may have almost no variables', async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [EXECUTABLE, ...args()], {
      env: {},
    })
    expectAll(stdout)
  })
})

const MODULE = fileURLToPath(new URL('../../dist/src/ground/v8.js', import.meta.url))
const PROTIME = fileURLToPath(new URL('../../bin/protime', import.meta.url))

/** Prints how much room V8 has made for objects that live for a moment, where many of them live a moment longer. */
const MEASURE = `
  const some = new Array(50_000)
  for (let i = 0; i < 800_000; i++) some[i % some.length] = { text: String(i) }
  const room = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')
  console.log(room.space_size / 1024 / 1024)`

function roomInMb(preparation: string): number {
  const program = `
    import { getHeapSpaceStatistics } from 'node:v8'
    import { keepHeapSmall } from ${JSON.stringify(MODULE)}
    ${preparation}
    ${MEASURE}`
  const words = ['--input-type=module', '--eval', program]
  return Number(execFileSync(process.execPath, words, { encoding: 'utf8' }))
}

/** The same at the end of a program that finds no configuration. */
function roomAfterInMb(command: string): number {
  const hook = `import { getHeapSpaceStatistics } from 'node:v8'
    process.on('exit', () => {${MEASURE}})`
  const words = ['--import', `data:text/javascript,${encodeURIComponent(hook)}`, PROTIME, command]
  const { stdout } = spawnSync(process.execPath, words, { encoding: 'utf8' })
  return Number(stdout.trim().split('\n').at(-1))
}

describe('the heap for short-lived objects', () => {
  it('is given little room by a comparison', () => {
    expect(roomInMb('keepHeapSmall()')).toBeLessThan(4)
    expect(roomInMb('')).toBeGreaterThan(8)
  })

  it('is given little room by a sync, whose answers would wait there for a full collection', () => {
    expect(roomAfterInMb('sync')).toBeLessThan(4)
    expect(roomAfterInMb('status')).toBeGreaterThan(8)
  })
})
