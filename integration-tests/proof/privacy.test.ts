import { createHmac, scryptSync } from 'node:crypto'
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { streams } from '../../src/streams/streams.ts'
import { configOf } from '../hostile/scenario.ts'
import { temporaryFolder } from '../testing/files.ts'
import {
  BIRTH_DATE,
  expected,
  isOffered,
  type Mark,
  type MarkedOptions,
  startMarkedService,
} from '../testing/marked-service.ts'
import { ask, protime } from '../testing/protime.ts'
import { run } from '../testing/run.ts'

const KEY = 'Wq3-xkT9_mB7vZ2p'
type ProgramName = 'source-protime' | 'tap-protime'

const outputs = new Map<string, Promise<string>>()

/** All that a program says in a mode; it is run once. */
function said(program: ProgramName, mode: string, refused?: string): Promise<string> {
  const name = [program, mode, refused].join(' ')
  const output = outputs.get(name) ?? outputOf(program, mode, refused)
  outputs.set(name, output)
  return output
}

async function outputOf(program: ProgramName, mode: string, refused?: string): Promise<string> {
  const { origin } = await startMarkedService({ refused })
  const config = {
    ...configOf(origin),
    activity_structures: [{ structure_version_id: 'a', level: 1 }],
    personal_data: mode,
    privacy_key: KEY,
  }
  const all = [...streams.keys()].filter((name) => isOffered(name, mode))
  // What is said of a refusal is the same whatever else is read.
  const catalog = refused === undefined ? all : [refused, 'jobs']
  const { stdout, stderr, exitCode } =
    program === 'source-protime'
      ? await run({ program, command: 'read', in: 'process', config, catalog })
      : await run({ program, in: 'process', config: { ...config, streams: catalog } })
  expect(exitCode === 0, stderr).toBe(refused === undefined)
  return stdout + stderr
}

const MODES = [
  ['complete', []],
  ['without_secrets', ['secret']],
  ['pseudonymised', ['identifying', 'secret']],
  ['minimal', ['identifying', 'sensitive', 'secret']],
] as const

const SALT = JSON.stringify(['source-protime', 'demo'])
const stretched = scryptSync(KEY, SALT, 32, { N: 32_768, r: 8, p: 1, maxmem: 2 ** 26 })

function hashOf({ text, meaning }: Mark): string {
  const key = createHmac('sha256', stretched)
    .update(JSON.stringify(['values', meaning]))
    .digest()
  return createHmac('sha256', key).update(text).digest('hex')
}

describe.each(['source-protime', 'tap-protime'] as const)('%s', (program) => {
  it.each(MODES)('prints nothing that personal_data leaves out: %s', async (mode, leftOut) => {
    const output = await said(program, mode)
    const isLeftOut = ({ privacyClass }: Mark) => leftOut.some((one) => one === privacyClass)
    const isShown = ({ text }: Mark) => output.includes(text)
    expect(expected.filter((mark) => isLeftOut(mark) && isShown(mark))).toEqual([])
    const offered = expected.filter(({ stream }) => isOffered(stream, mode))
    expect(offered.filter((mark) => !isLeftOut(mark) && !isShown(mark))).toEqual([])
  })

  it.each([
    ['complete', 'They are passed on: people.kin, people.shoeSize.'],
    ['minimal', 'They are left out: people.kin, people.shoeSize.'],
  ])('names the fields that no schema knows in one line: %s', async (mode, fate) => {
    const lines = (await said(program, mode)).split('\n')
    const told = lines.filter((line) => line.includes('fields that the schemas do not know'))
    expect(told).toEqual([
      expect.stringContaining(`they may be personal data. ${fate} The settings`),
    ])
  })

  it.each(MODES)("shows the service's texts only if names of people are kept: %s", async (mode) => {
    const output = await said(program, mode, 'departments')
    expect(output).toContain('(400 for ')
    expect(output).toContain('BadRequest')
    expect(output.includes('Jan Peeters')).toBe(mode === 'complete' || mode === 'without_secrets')
  })

  it('finds a secret in a field that is in no schema', async () => {
    expect(await said(program, 'without_secrets')).not.toContain('BE71-unknown')
    expect(await said(program, 'complete')).toContain('BE71-unknown')
  })

  it('replaces identifying fields by a hash of key, tenant and meaning, and dates by their year', async () => {
    const output = await said(program, 'pseudonymised')
    const hashed = expected.filter(
      ({ text, privacyClass }) => privacyClass === 'identifying' && text !== BIRTH_DATE,
    )
    expect(hashed.filter((mark) => !output.includes(`"${hashOf(mark)}"`))).toEqual([])
    expect(output.includes('"birthDate":"1971-01-01"')).toBe(true)
  })
})

let folder: ReturnType<typeof temporaryFolder>

const file = () => join(folder.path, 'w.duckdb')

/** Streams with records of people. */
const FEW = ['people', 'departments', 'jobs', 'absences']
/** With all secrets, and with codes of people. */
const MORE = [...FEW, 'employers', 'contracts', 'access_clockings']

/** A tenant full of marks, and how some of its streams are synced in a mode; the programs above read them all. */
async function startScene(streams: readonly string[]) {
  const service: MarkedOptions = {}
  const keys = { present: KEY }
  const settings: Record<string, unknown> = {}
  const { origin, requests } = await startMarkedService(service)
  const sync = async (mode: string, ...words: readonly string[]) => {
    const config = join(folder.path, 'config.json')
    const all = {
      ...configOf(origin),
      ...settings,
      activity_structures: [{ structure_version_id: 'a', level: 1 }],
      personal_data: mode,
      privacy_key: keys.present,
      streams,
    }
    writeFileSync(config, JSON.stringify(all), { mode: 0o600 })
    const argv = ['sync', '--config', config, '--warehouse', file(), ...words]
    const { exitCode, stderr } = await protime(...argv)
    rmSync(config)
    return { exitCode, stderr }
  }
  return { service, requests, sync, keys, settings }
}

/** The marks of a class that stand somewhere in the bytes of the warehouse. */
function found(privacyClass: string): string[] {
  const bytes = readFileSync(file())
  return expected
    .filter((mark) => mark.privacyClass === privacyClass && mark.text.startsWith('marked-'))
    .flatMap(({ text }) => (bytes.includes(text) ? [text] : []))
}

describe('a warehouse', () => {
  beforeEach(() => {
    folder = temporaryFolder()
  })
  afterEach(() => folder.remove())

  it('that was filled with other settings is refused, and not changed', async () => {
    const { sync } = await startScene(FEW)
    expect((await sync('complete')).exitCode).toBe(0)
    const before = readFileSync(file())
    const { exitCode, stderr } = await sync('minimal')
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining('Add --rewrite')])
    expect(readFileSync(file()).equals(before)).toBe(true)
    expect((await sync('complete')).exitCode).toBe(0)
  })

  it('whose hashes were made with another key is refused, and built anew without any of them', async () => {
    const { sync, keys } = await startScene(FEW)
    const codes = async () =>
      (await ask(file(), 'SELECT lastName FROM people')).map(({ lastName }) => String(lastName))
    await sync('pseudonymised')
    const before = await codes()
    keys.present = 'zP4!dR8@uY6#cN1%'
    expect(await sync('pseudonymised')).toEqual({
      exitCode: 2,
      stderr: expect.stringContaining('Add --rewrite'),
    })
    expect(await codes()).toEqual(before)
    expect((await sync('pseudonymised', '--rewrite')).exitCode).toBe(0)
    const bytes = readFileSync(file())
    expect(before.filter((code) => bytes.includes(code))).toEqual([])
    expect(new Set([...before, ...(await codes())]).size).toBe(2 * new Set(before).size)
  })

  it.each([
    ['minimal', MORE, 15, 4],
    ['pseudonymised', FEW, 10, 3],
  ])(
    'has no byte after --rewrite of what %s leaves out, nor of what rows were before',
    async (mode, streams, least, secrets) => {
      const { service, sync, settings } = await startScene(streams)
      settings['history'] = true
      await sync('complete')
      service.gone = 'people'
      await sync('complete', '--full-refresh', '--streams', 'people')
      // The search finds what is there.
      const before = [found('identifying').length, found('secret').length]
      expect(before).toEqual([expect.toSatisfy((count: number) => count > least), secrets])
      expect((await sync(mode, '--rewrite')).stderr).toContain('Add --forget-history')
      expect((await sync(mode, '--rewrite', '--forget-history')).exitCode).toBe(0)
      expect([found('identifying'), found('secret')]).toEqual([[], []])
      expect(readdirSync(folder.path)).toEqual(['w.duckdb'])
      expect((await sync(mode, '--streams', 'people')).exitCode).toBe(0)
    },
  )

  it('is not changed by a failed rewrite, and the next one continues', async () => {
    const { service, requests, sync } = await startScene(FEW)
    await sync('complete')
    const before = readFileSync(file())
    service.refused = 'departments'
    const failed = await sync('minimal', '--rewrite')
    expect([failed.exitCode, failed.stderr]).toEqual([
      2,
      expect.stringContaining('stays as it was'),
    ])
    expect(readFileSync(file()).equals(before)).toBe(true)
    service.refused = undefined
    const count = requests.length
    expect((await sync('minimal', '--rewrite')).exitCode).toBe(0)
    const starts = (some: typeof requests) =>
      some.filter(({ url }) => url.endsWith('/people?delta'))
    expect([starts(requests.slice(0, count)).length, starts(requests.slice(count))]).toEqual([
      2,
      [],
    ])
    expect([found('identifying'), readdirSync(folder.path)]).toEqual([[], ['w.duckdb']])
  })
})
