import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runProtime } from '../src/cli/main.ts'
import { temporaryFolder } from './testing/files.ts'
import { createCollector } from './testing/output.ts'

const dropping = (path: string) => ({ field_rules: [{ stream: 'people', path, rule: 'drop' }] })

/** Settings by which nothing would be left out, and what was meant. */
const MISTYPED: readonly (readonly [object, string])[] = [
  [{ personaldata: 'minimal' }, 'did you mean personal_data?'],
  [{ stream: ['departments'] }, 'did you mean streams?'],
  [dropping('lastname'), 'did you mean lastName?'],
  [dropping('surname'), 'matches no field that the schema of people knows.'],
]

let folder: ReturnType<typeof temporaryFolder>
beforeAll(() => {
  folder = temporaryFolder()
  // Nothing listens there: whatever asks the service ends otherwise.
  const base_url = 'http://127.0.0.1:1'
  const environment = { type: 'custom', base_url, auth_url: base_url }
  const settings = { tenant: 'acme', client_id: 'id', client_secret: 'secret', environment }
  writeFileSync(join(folder.path, 'config.json'), JSON.stringify(settings))
  const mistyped = { ...settings, streams: ['people', 'clokings'] }
  writeFileSync(join(folder.path, 'streams.json'), JSON.stringify(mistyped))
  MISTYPED.forEach(([setting], i) => {
    const config = JSON.stringify({ ...settings, ...setting })
    writeFileSync(join(folder.path, `mistyped-${i}.json`), config)
  })
})
afterAll(() => folder.remove())

async function protime(words: string, config = 'config.json') {
  const [stdout, stderr] = [createCollector(), createCollector()]
  const files = ['--config', join(folder.path, config)]
  const exitCode = await runProtime([...words.split(' '), ...files], { stdout, stderr })
  return { exitCode, text: stderr.text() }
}

const warehouse = () => `--warehouse ${join(folder.path, 'w.duckdb')}`

it.each([
  ['references list peple', 'people'],
  ['references get peple hr-number E1', 'people'],
  ['references put job_categores hr-code B 1', 'job-categories'],
  ['references delete terminal badge 5', 'terminals'],
  ['webhooks create --collection clokings --url https://example.org --key-file key', 'clockings'],
  ['webhooks list --collection people,clokings', 'clockings'],
  [
    'webhooks serve --run true --store s --public-url https://example.org --collection clokings',
    'clockings',
  ],
  ['write external-reference --from -', 'external_references'],
  ['preview clokings', 'clockings'],
])('protime %s is asked whether it means %s', async (words, meant) => {
  expect(await protime(words)).toEqual({
    exitCode: 2,
    text: expect.stringContaining(`; did you mean ${meant}?`),
  })
})

it('protime webhooks create is asked the same of a reference', async () => {
  const where = '--url https://example.org --key-file key'
  const words = `webhooks create --collection clockings ${where} --reference peple:hr-number`
  expect((await protime(words)).text).toContain('did you mean people?')
})

it.each([
  ['sync --streams people,clokings', 'config.json'],
  ['sync', 'streams.json'],
])(
  'protime %s names the stream that was meant, as something a person can mend',
  async (words, config) => {
    expect(await protime(`${words} ${warehouse()}`, config)).toEqual({
      exitCode: 2,
      text: expect.stringContaining(
        'clokings: There is no stream of this name; did you mean clockings?',
      ),
    })
  },
)

describe.each(['sync --warehouse nothing.duckdb', 'preview people', 'references list people'])(
  'protime %s refuses a setting that would leave nothing out',
  (words) => {
    it.each(MISTYPED.map(([, meant], i) => [meant, i] as const))('%s', async (meant, i) => {
      const { exitCode, text } = await protime(words, `mistyped-${i}.json`)
      expect([exitCode, text]).toEqual([2, expect.stringContaining(meant)])
    })
  },
)
