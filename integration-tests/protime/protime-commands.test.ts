import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Emulator, startEmulator } from '../../emulator/emulator.ts'
import { runProtime } from '../../src/cli/main.ts'
import { temporaryFolder } from '../testing/files.ts'
import { createCollector } from '../testing/output.ts'
import { protime } from '../testing/protime.ts'

let emulator: Emulator
let folder: ReturnType<typeof temporaryFolder>
beforeAll(async () => {
  const clients = [{ id: 'writer', secret: 'secret-of-the-writer', scopes: 'all' }] as const
  emulator = await startEmulator({ people: 12, months: 0, clients })
  folder = temporaryFolder()
  writeFileSync(path('config.json'), JSON.stringify({ ...emulator.config(), dry_run: true }))
  writeFileSync(
    path('references.jsonl'),
    '{"collection":"people","name":"hr","value":"B","internalReference":2}',
  )
  // Whatever is delivered there, the emulator notes.
  const destinationUrl = `${emulator.url}/hooks/people/4fd9a1b2c3d4e5f60718`
  const webhooks = [{ collection: 'people', destinationUrl, key: 'key-of-the-webhook' }]
  writeFileSync(path('hooks.json'), JSON.stringify({ version: 1, webhooks }))
  emulator.setReference('people', 'hr', 'A', 1)
  emulator.setReference('job-categories', 'erp', 'BAKER', 2)
})
afterAll(async () => {
  await emulator.close()
  folder.remove()
})

const path = (name: string) => join(folder.path, name)

/** What each command is called with, and the exit code; the others cannot change the service. */
const CALLS: Readonly<
  Record<string, readonly [words: () => readonly string[], exitCode?: number]>
> = {
  'references put': [() => ['people', 'hr', 'B', '2']],
  'references delete': [() => ['people', 'hr', 'A']],
  'job-categories put': [() => ['BAKER', '--reference', 'erp', '--external-code', 'DRY']],
  'work-locations create': [() => ['--name', 'DRY', '--as', 'erp=DRY']],
  'webhooks create': [
    () => ['--collection', 'people', '--url', 'https://example.org', '--key-file', path('key')],
  ],
  'webhooks delete': [() => ['1'], 4],
  'webhooks test': [() => ['--store', path('hooks.json')]],
  'webhooks serve': [
    () => [
      ...[
        '--store',
        path('store'),
        '--listen',
        '127.0.0.1:0',
        '--public-url',
        'https://example.org',
      ],
      ...['--collection', 'people', '--run', 'true', '--once'],
    ],
    2,
  ],
  write: [() => ['external_references', '--from', path('references.jsonl'), '--mirror']],
}
const READS = [
  ...[
    'init',
    'check',
    'status',
    'query',
    'preview',
    'sync',
    'verify',
    'close',
    'explain',
    'dbt init',
    'person export',
    'person erase',
    'person sql',
    ...['history on', 'history keep', 'history off', 'history forget'],
    'references list',
    'references get',
    'job-categories list',
  ],
  ...['job-categories get', 'work-locations list', 'webhooks list', 'webhooks get'],
]

/** Every command of `protime`, as its help lists them. */
async function commands(...noun: string[]): Promise<string[]> {
  const { stdout } = await protime(...noun, '--help')
  const [, list = ''] = stdout.split(/^Commands:$/m)
  const names = [...list.matchAll(/^ {2}([a-z-]+)/gm)].map(([, name = '']) => name)
  const own = names.filter((name) => name !== 'help')
  if (own.length === 0) return [noun.join(' ')]
  const found: string[] = []
  for (const name of own) found.push(...(await commands(...noun, name)))
  return found
}

describe('dry_run in the configuration', () => {
  it('is respected by every command that writes', async () => {
    expect([...(await commands())].toSorted()).toEqual([...Object.keys(CALLS), ...READS].toSorted())
  })

  it.each(Object.keys(CALLS))(
    'lets protime %s change nothing, and say what it would do',
    async (command) => {
      const [words, expected = 0] = CALLS[command] ?? [() => []]
      const before = emulator.requests.length
      const config = ['--config', path('config.json')]
      const { exitCode, stdout, stderr } = await protime(
        ...command.split(' '),
        ...words(),
        ...config,
      )
      const asked = emulator.requests
        .slice(before)
        .filter(({ path }) => !path.includes('/connect/'))
      expect(asked.filter(({ method }) => method !== 'GET')).toEqual([])
      expect([exitCode, stderr]).toEqual([expected, expect.anything()])
      if (exitCode === 0) {
        expect(stdout).toContain('"dryRun":true')
        expect(stderr).toMatch(/othing was changed/)
      }
    },
  )
})

const dropping = (path: string) => ({ field_rules: [{ stream: 'people', path, rule: 'drop' }] })

/** Settings by which nothing would be left out, and what was meant. */
const MISTYPED: readonly (readonly [object, string])[] = [
  [{ personaldata: 'minimal' }, 'did you mean personal_data?'],
  [{ stream: ['departments'] }, 'did you mean streams?'],
  [dropping('lastname'), 'did you mean lastName?'],
  [dropping('surname'), 'matches no field that the schema of people knows.'],
]

it.each([
  ['status', '--warehouse'],
  ['write', 'external_references', '--from'],
  ['webhooks', 'test', '--store'],
])(
  'protime %s refuses an empty path, which a script passes for a variable that is not set',
  async (...words) => {
    for (const empty of ['', ' ']) {
      const { exitCode, stderr } = await protime(...words, empty, '--config', path('config.json'))
      expect([exitCode, stderr]).toEqual([
        2,
        expect.stringContaining(`protime: the option ${words.at(-1)} <`),
      ])
    }
  },
)

it.each([['sync'], ['status'], ['webhooks', 'list']])(
  'protime %s refuses an empty path of the configuration',
  async (...words) => {
    const { exitCode, stderr } = await protime('--config', '', ...words)
    expect([exitCode, stderr]).toEqual([
      2,
      expect.stringContaining('protime: the option --config <file> is empty.'),
    ])
  },
)

describe('an unknown word on the command line', () => {
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
    writeFileSync(join(folder.path, 'none.json'), JSON.stringify({ ...settings, streams: [] }))
    MISTYPED.forEach(([setting], i) => {
      const config = JSON.stringify({ ...settings, ...setting })
      writeFileSync(join(folder.path, `mistyped-${i}.json`), config)
    })
  })
  afterAll(() => folder.remove())

  async function call(words: string, config = 'config.json') {
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
    expect(await call(words)).toEqual({
      exitCode: 2,
      text: expect.stringContaining(`; did you mean ${meant}?`),
    })
  })

  it('protime webhooks create suggests a reference in the same way', async () => {
    const where = '--url https://example.org --key-file key'
    const words = `webhooks create --collection clockings ${where} --reference peple:hr-number`
    expect((await call(words)).text).toContain('did you mean people?')
  })

  it.each([
    ['sync --streams people,clokings', 'config.json'],
    ['sync', 'streams.json'],
    ['verify', 'streams.json'],
    ['close 2026-10', 'streams.json'],
    ['person erase 7', 'streams.json'],
  ])('protime %s names the stream that was meant, as a config error', async (words, config) => {
    expect(await call(`${words} ${warehouse()}`, config)).toEqual({
      exitCode: 2,
      text: expect.stringContaining(
        'clokings: There is no stream of this name; did you mean clockings?',
      ),
    })
  })

  it.each(['sync', 'verify', 'close 2026-10', 'person erase 7'])(
    'protime %s does not count an empty list of streams as everything',
    async (words) => {
      expect(await call(`${words} ${warehouse()}`, 'none.json')).toEqual({
        exitCode: 2,
        text: expect.stringContaining('The list of streams to read is empty.'),
      })
    },
  )

  it('protime person sql prints no statements for an empty list of streams', async () => {
    const { exitCode, text } = await call('person sql 7 --dialect duckdb', 'none.json')
    expect([exitCode, text]).toEqual([2, expect.stringContaining('no-stream-named')])
  })

  describe.each(['sync --warehouse nothing.duckdb', 'preview people', 'references list people'])(
    'protime %s refuses a setting that would leave nothing out',
    (words) => {
      it.each(MISTYPED.map(([, meant], i) => [meant, i] as const))('%s', async (meant, i) => {
        const { exitCode, text } = await call(words, `mistyped-${i}.json`)
        expect([exitCode, text]).toEqual([2, expect.stringContaining(meant)])
      })
    },
  )
})
