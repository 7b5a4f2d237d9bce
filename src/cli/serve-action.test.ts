import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Command } from 'commander'
import { describe, expect, it } from 'vitest'
import { parseServeWords, readChosenStreams } from './serve-action.ts'
import { type ServeWords, serveOptions } from './serve-options.ts'

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
      keysOnly: false,
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

  it('accept plain http for a public URL on loopback, and no URL for --keys-only', () => {
    const words = ['--store', 's', '--run', 'true']
    expect(parse([...words, '--public-url', 'http://127.0.0.1:1/']).publicUrl).toBe(
      'http://127.0.0.1:1',
    )
    expect(parse([...words, '--keys-only']).publicUrl).toBe('')
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
      'a collection without webhooks',
      [...REQUIRED, '--run', 'true', '--collection', 'jobs'],
      /no webhooks of jobs/,
    ],
  ])('are refused with %s', (_, argv, sentence) => {
    expect(() => parse(argv)).toThrow(sentence)
  })
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

function written(content: object): string {
  const file = join(mkdtempSync(join(tmpdir(), 'protime-')), 'catalog.json')
  writeFileSync(file, JSON.stringify(content))
  return file
}

const off = [{ breadcrumb: [], metadata: { selected: false } }]

it.each([
  ['of Airbyte', [{ stream: { name: 'people' }, sync_mode: 'incremental' }]],
  ['of Singer', [{ tap_stream_id: 'people' }, { tap_stream_id: 'breaks', metadata: off }]],
  ['of Singer without ids', [{ stream: 'people', schema: {} }]],
])('a catalog %s names the streams that it chooses', async (_, streams) => {
  expect(await readChosenStreams(written({ streams }))).toEqual(new Set(['people']))
})

it('an invalid catalog is refused in one sentence', async () => {
  await expect(readChosenStreams(written({}))).rejects.toThrow('--catalog is not a')
})
