import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { configOf } from './hostile/scenario.ts'
import { temporaryFolder } from './testing/files.ts'
import { expected, type MarkedOptions, startMarkedService } from './testing/marked-service.ts'
import { ask, protime } from './testing/protime.ts'

let folder: ReturnType<typeof temporaryFolder>
beforeEach(() => {
  folder = temporaryFolder()
})
afterEach(() => folder.remove())

const file = () => join(folder.path, 'w.duckdb')

/** Streams with records of people. */
const FEW = ['people', 'departments', 'jobs', 'absences']
/** With all secrets, with values in a key, and with a code of a person. */
const MORE = [...FEW, 'employers', 'external_references', 'contracts', 'access_clockings']

/** A tenant full of marks, and how some of its streams are synced in a mode; privacy.test.ts reads them all. */
async function startScene(streams: readonly string[]) {
  const service: MarkedOptions = {}
  const { origin, requests } = await startMarkedService(service)
  const sync = async (mode: string, ...words: readonly string[]) => {
    const config = join(folder.path, 'config.json')
    const settings = {
      ...configOf(origin),
      activity_structures: [{ structure_version_id: 'a', level: 1 }],
      personal_data: mode,
      privacy_key: 'a-key-of-sixteen-characters',
      streams,
    }
    writeFileSync(config, JSON.stringify(settings), { mode: 0o600 })
    const argv = ['sync', '--config', config, '--warehouse', file(), ...words]
    const { exitCode, stderr } = await protime(...argv)
    rmSync(config)
    return { exitCode, stderr }
  }
  return { service, requests, sync }
}

/** The marks of a class that stand somewhere in the bytes of the warehouse. */
function found(privacyClass: string): string[] {
  const bytes = readFileSync(file())
  return expected
    .filter((mark) => mark.privacyClass === privacyClass && mark.text.startsWith('marked-'))
    .flatMap(({ text }) => (bytes.includes(text) ? [text] : []))
}

it('a warehouse that was filled with other settings is refused, and not changed', async () => {
  const { sync } = await startScene(FEW)
  expect((await sync('complete')).exitCode).toBe(0)
  const before = readFileSync(file())
  const { exitCode, stderr } = await sync('minimal')
  expect([exitCode, stderr]).toEqual([2, expect.stringContaining('Add --rewrite')])
  expect(readFileSync(file()).equals(before)).toBe(true)
  expect((await sync('complete')).exitCode).toBe(0)
})

it.each([
  ['minimal', MORE, 20, 4],
  ['pseudonymised', FEW, 10, 3],
])(
  'after --rewrite no byte of the warehouse is of what %s leaves out, of deleted rows neither',
  async (mode, streams, least, secrets) => {
    const { service, sync } = await startScene(streams)
    await sync('complete', '--keep-deleted')
    service.gone = 'people'
    await sync('complete', '--keep-deleted', '--full-refresh', '--streams', 'people')
    expect(await ask(file(), 'SELECT count(*)::INTEGER AS n FROM people')).toEqual([{ n: 1 }])
    // The search finds what is there.
    const before = [found('identifying').length, found('secret').length]
    expect(before).toEqual([expect.toSatisfy((count: number) => count > least), secrets])
    expect((await sync(mode, '--keep-deleted', '--rewrite')).exitCode).toBe(0)
    expect([found('identifying'), found('secret')]).toEqual([[], []])
    expect(readdirSync(folder.path)).toEqual(['w.duckdb'])
    expect((await sync(mode, '--keep-deleted', '--streams', 'people')).exitCode).toBe(0)
  },
)

it('a failed rewrite does not change the warehouse, and the next one continues', async () => {
  const { service, requests, sync } = await startScene(FEW)
  await sync('complete')
  const before = readFileSync(file())
  service.refused = 'departments'
  const failed = await sync('minimal', '--rewrite')
  expect([failed.exitCode, failed.stderr]).toEqual([2, expect.stringContaining('stays as it was')])
  expect(readFileSync(file()).equals(before)).toBe(true)
  service.refused = undefined
  const count = requests.length
  expect((await sync('minimal', '--rewrite')).exitCode).toBe(0)
  const starts = (some: typeof requests) => some.filter(({ url }) => url.endsWith('/people?delta'))
  expect([starts(requests.slice(0, count)).length, starts(requests.slice(count))]).toEqual([2, []])
  expect([found('identifying'), readdirSync(folder.path)]).toEqual([[], ['w.duckdb']])
})
