import { Command } from 'commander'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { createMask } from '../ground/mask.ts'
import type { WarehouseAge } from '../warehouse/status.ts'
import { createCommandLog } from './command.ts'
import { recordTable } from './record-table.ts'
import { serveOptions } from './resource-commands.ts'
import { parseServeWords, type ServeWords } from './serve-action.ts'
import { statusText } from './status-action.ts'
import { warehouseIn, warehouseOf } from './warehouse-option.ts'

function logged({ isDebug = false, isQuiet = false, isColoured = false } = {}) {
  let text = ''
  let now = Date.UTC(2026, 10, 22, 18, 20, 11, 999)
  const mask = createMask()
  mask.add('secret-of-acme')
  const write = (more: string) => {
    text += more
  }
  const switches = { isDebug: () => isDebug, isQuiet: () => isQuiet }
  const log = createCommandLog({ ...switches, screen: { isColoured, write }, mask, now: () => now })
  log.debug('a')
  log.info('b')
  now += 1
  log.warn({ id: 'still-waiting', message: 'c secret-of-acme' })
  log.error({ id: 'unexpected', message: 'd\u001b[2J\nINFO forged' })
  return text.split('\n')
}

describe('the log of protime', () => {
  it('begins each line with its time in UTC, to the second', () => {
    expect(logged()).toEqual([
      '2026-11-22T18:20:11Z INFO b',
      '2026-11-22T18:20:12Z WARN c **** [still-waiting]',
      '2026-11-22T18:20:12Z ERROR d [2J INFO forged [unexpected]',
      '',
    ])
  })

  it('has the requests if they are asked for', () => {
    expect(logged({ isDebug: true })[0]).toBe('2026-11-22T18:20:11Z DEBUG a')
  })

  it('is only warnings and errors if it has to be quiet', () => {
    const levels = logged({ isQuiet: true }).map((line) => line.split(' ')[1])
    expect(levels).toEqual(['WARN', 'ERROR', undefined])
  })

  it('has errors in red on a terminal', () => {
    expect(logged({ isColoured: true })[2]).toMatch(/^[^ ]+Z .\[31mERROR d .*.\[0m$/)
  })
})

describe('the table of a preview', () => {
  const records = [
    '{"id":1,"person":{"id":7,"externalReferences":{"@badge":"A"}},"tags":[1,2]}',
    '{"id":22,"note":"two\\nlines","person":null}',
  ]

  it('has a column for each member, and joins the names of nested ones', () => {
    expect(recordTable(records, 100).split('\n')).toEqual([
      '  id  person.id  person.externalReferences.@badge  tags   note       person',
      '  1   7          A                                 [1,2]',
      '  22                                                      two lines',
    ])
  })

  it('has every digit of a number that JSON.parse would round', () => {
    const record = '{"id":9007199254740993,"at":{"sum":-12345678901234567890}}'
    const [, row] = recordTable([record], 100).split('\n')
    expect(row).toBe('  9007199254740993  -12345678901234567890')
  })

  it('names the columns that do not fit', () => {
    expect(recordTable(records, 20).split('\n')).toEqual([
      '  id  person.id',
      '  1   7',
      '  22',
      '  and 4 more columns: person.externalReferences.@badge, tags, note, person',
    ])
  })

  it('shows names and values that cannot move the cursor or begin a line', () => {
    const record = JSON.stringify({ ['a\u001b[2Jb\nERROR forged\u202e']: '\u009b31mred\u2066' })
    const [header, row] = recordTable([record], 100).split('\n')
    expect([header, row]).toEqual(['  a [2Jb ERROR forged', '   31mred'])
  })

  it('cuts long values, and shows one column however narrow the terminal is', () => {
    const [, row] = recordTable([`{"text":"${'x'.repeat(99)}"}`], 5).split('\n')
    expect(row).toBe(`  ${'x'.repeat(31)}…`)
  })
})

describe('the status of a warehouse', () => {
  const NOW = new Date('2026-11-22T12:00:00Z')
  const stream = (name: string, lastComplete?: string, failure?: string, failureId?: string) => ({
    ...{ stream: name, rows: 3, lastComplete, failure, failureId },
  })

  function shown(found: Partial<WarehouseAge>): string[] {
    const facts = { tenant: 'acme', environment: 'production', sync: undefined, streams: [] }
    return statusText({ ...facts, ...found }, NOW, 200)
      .split('\n')
      .map((line) => line.trim().replaceAll(/ {2,}/g, ' | '))
  }

  it('says which tenant the warehouse belongs to, and how its last sync ended', () => {
    const sync = { began: '2026-11-22T02:00:00Z', ended: '2026-11-22T02:01:00Z', exit: 1 }
    expect(shown({ sync }).slice(0, 2)).toEqual([
      'tenant acme, production',
      'last sync: 2026-11-22T02:00:00Z to 2026-11-22T02:01:00Z, exit code 1',
    ])
    expect(shown({ sync: { ...sync, ended: undefined, exit: undefined } })[1]).toBe(
      'last sync: began 2026-11-22T02:00:00Z, and has not ended or was killed',
    )
    expect(shown({})[1]).toBe('last sync: none')
  })

  it('says how old each stream is and how the next sync reads it', () => {
    const streams = [
      stream('people', '2026-11-22T02:00:00Z'),
      stream('clockings', '2026-11-19T02:00:00Z', 'It is away.', 'service-fails'),
      stream('job_categories', '2026-11-10T02:00:00Z'),
      stream('absences'),
      stream('inventory', '2026-11-22T02:00:00Z'),
    ]
    expect(shown({ streams }).slice(2)).toEqual([
      'stream | rows | last complete | age | next sync | failure',
      'people | 3 | 2026-11-22T02:00:00Z | 10 h | changes',
      'clockings | 3 | 2026-11-19T02:00:00Z | 3 days | from the beginning: expired link | service-fails: It is away.',
      'job_categories | 3 | 2026-11-10T02:00:00Z | 12 days | whole list',
      'absences | 3 | never | first read',
      'inventory | 3 | 2026-11-22T02:00:00Z | 10 h | at the end of each sync',
    ])
  })
})

const REQUIRED = ['--public-url', 'https://hooks.acme.example', '--store', 'webhooks.json']
const AIRBYTE = {
  AIRBYTE_URL: 'https://airbyte.acme.example/api/public/',
  AIRBYTE_CLIENT_ID: 'app',
  AIRBYTE_CLIENT_SECRET: 'secret',
}

function parse(argv: readonly string[], environment: Readonly<Record<string, string>> = {}) {
  const command = new Command().exitOverride()
  for (const option of serveOptions()) command.addOption(option)
  command.parse([...argv], { from: 'user' })
  return parseServeWords(command.opts<ServeWords>(), environment)
}

describe('the options of protime webhooks serve', () => {
  it('have a default wherever possible', () => {
    expect(parse([...REQUIRED, '--run', 'true'])).toMatchObject({
      publicUrl: 'https://hooks.acme.example',
      host: '127.0.0.1',
      port: 8080,
      storePath: 'webhooks.json',
      collections: { length: 18 },
      times: { debounceMs: 10_000, maxWaitMs: 60_000, minIntervalMs: 60_000, retryMs: 60_000 },
      watchMs: 900_000,
      adopt: false,
      once: false,
    })
  })

  it('give platforms five minutes between two syncs', () => {
    const minute = 60_000
    const { times } = parse([...REQUIRED, '--airbyte-connection', 'live'], AIRBYTE)
    expect(times.minIntervalMs).toBe(5 * minute)
    expect(parse([...REQUIRED, '--post', 'https://a.example']).times.minIntervalMs).toBe(5 * minute)
  })

  it('accept fractions of seconds, IPv6, a path in the public URL, and streams as collections', () => {
    const words = ['--store', 's', '--run', 'true', '--listen', '[::1]:0', '--debounce', '0.25']
    const url = ['--public-url', 'https://hooks.acme.example/protime/']
    expect(parse([...words, ...url, '--collection', 'people, access_clockings'])).toMatchObject({
      host: '::1',
      port: 0,
      times: { debounceMs: 250 },
      publicUrl: 'https://hooks.acme.example/protime',
      collections: ['people', 'access-clockings'],
    })
  })

  it('accept plain http for a public URL on loopback', () => {
    const words = ['--store', 's', '--run', 'true']
    expect(parse([...words, '--public-url', 'http://127.0.0.1:1/']).publicUrl).toBe(
      'http://127.0.0.1:1',
    )
  })

  it.each([
    ['no public URL', ['--store', 's', '--run', 'true'], /--public-url <url> is missing/],
    ['http', ['--public-url', 'http://a.example', '--store', 's', '--run', 'true'], /https/],
    ['a query', ['--public-url', 'https://a.example/?a', '--store', 's', '--run', 'true'], /query/],
    [
      'no store',
      ['--public-url', 'https://a.example', '--run', 'true'],
      /--store <file> is missing/,
    ],
    ['no way to sync', REQUIRED, /one of --run, --airbyte-connection and --post/],
    [
      'an empty command, which would always succeed',
      [...REQUIRED, '--run', ' '],
      /one of --run, --airbyte-connection and --post/,
    ],
    ['an empty connection', [...REQUIRED, '--airbyte-connection', ''], /one of --run/],
    ['two ways to sync', [...REQUIRED, '--run', 'true', '--post', 'http://a'], /one of --run/],
    [
      'a password in the address of a scheduler',
      [...REQUIRED, '--post', 'https://a:secret@b.example'],
      /can see the password in --post: leave it out, and set PROTIME_POST_PASSWORD$/,
    ],
    [
      'plain http to a scheduler elsewhere',
      [...REQUIRED, '--post', 'http://a.example'],
      /^--post must be an https address/,
    ],
    ['no environment', [...REQUIRED, '--airbyte-connection', 'x'], /variable AIRBYTE_URL/],
    ['a port alone', [...REQUIRED, '--run', 'true', '--listen', '8080'], /--listen takes/],
    ['no such port', [...REQUIRED, '--run', 'true', '--listen', 'a:70000'], /--listen takes/],
    ['minutes', [...REQUIRED, '--run', 'true', '--debounce', '1m'], /--debounce takes/],
    [
      'no pause between two checks, which would be hundreds of requests per second',
      [...REQUIRED, '--run', 'true', '--watch-interval', '0'],
      /--watch-interval takes a number of seconds above 0/,
    ],
    ['no pause after a failure', [...REQUIRED, '--run', 'true', '--retry', '0.0'], /--retry takes/],
    [
      'a collection without webhooks',
      [...REQUIRED, '--run', 'true', '--collection', 'jobs'],
      /no webhooks of jobs/,
    ],
  ])('are refused with %s', (_, argv, sentence) => {
    expect(() => parse(argv)).toThrow(sentence)
  })
})

it('no pause between two questions about an Airbyte job is refused', () => {
  const words = [...REQUIRED, '--airbyte-connection', 'live', '--poll', '0']
  expect(() => parse(words, AIRBYTE)).toThrow(/--poll takes a number of seconds above 0/)
})

it('plain http to Airbyte is accepted on loopback only', () => {
  const words = [...REQUIRED, '--airbyte-connection', 'live']
  expect(
    parse(words, { ...AIRBYTE, AIRBYTE_URL: 'http://127.0.0.1:8000/api/public' }),
  ).toBeDefined()
  expect(() => parse(words, { ...AIRBYTE, AIRBYTE_URL: 'http://airbyte.acme.example' })).toThrow(
    /^AIRBYTE_URL must be an https address/,
  )
})

it.each(['/etc/cron.d/x', 'postgres://10.0.0.1/hr'])(
  'a warehouse of the configuration is refused where others configure: %s',
  (warehouse) => {
    vi.stubEnv('PROTIME_PUBLIC_ONLY', '1')
    onTestFinished(() => void vi.unstubAllEnvs())
    expect(() => warehouseOf(undefined, { warehouse })).toThrow(
      'The configuration is not valid. warehouse names a file of the machine',
    )
    expect([warehouseOf('mine.duckdb', { warehouse }), warehouseOf(undefined, {})]).toEqual([
      'mine.duckdb',
      'protime.duckdb',
    ])
  },
)

it('no command passes over a configuration that is named and missing', async () => {
  await expect(warehouseIn(undefined, '/missing/config.json')).rejects.toThrow(
    'The file given by --config cannot be read (ENOENT): /missing/config.json.',
  )
  expect(await warehouseIn('mine.duckdb', '/missing/config.json')).toBe('mine.duckdb')
})
