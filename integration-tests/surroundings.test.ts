import { execFile, spawn } from 'node:child_process'
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
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Emulator, startEmulator } from '../emulator/emulator.ts'
import { protocolFaults } from '../src/protocol/acceptance/airbyte-faults.ts'
import { executableOf } from './testing/child.ts'
import { writeFiles } from './testing/files.ts'
import { parseLines, run } from './testing/run.ts'

const EXECUTABLE = executableOf('source-protime')
const STREAM = 'job_categories'

let emulator: Emulator
let folder: string

beforeEach(async () => {
  emulator = await startEmulator({ people: 3, months: 1 })
  folder = mkdtempSync(join(tmpdir(), 'surroundings-'))
})

afterEach(async () => {
  await emulator.close()
  rmSync(folder, { recursive: true, force: true })
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
      'The output cannot be written: no space is left on the disk. The next sync continues from the last state that was stored.\n',
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
