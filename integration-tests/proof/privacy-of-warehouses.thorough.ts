import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { configOf } from '../hostile/scenario.ts'
import { temporaryFolder } from '../testing/files.ts'
import { expected, type MarkedOptions, startMarkedService } from '../testing/marked-service.ts'
import { ask, protime } from '../testing/protime.ts'

const KEY = 'Wq3-xkT9_mB7vZ2p'

let folder: ReturnType<typeof temporaryFolder>

const file = () => join(folder.path, 'w.duckdb')

/** Streams with records of people. */
const FEW = ['people', 'departments', 'jobs', 'absences']
/** With all secrets, and with codes of people. */
const MORE = [...FEW, 'employers', 'contracts', 'access_clockings']

/** A tenant full of marks, and how some of its streams are synced in a mode. */
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
