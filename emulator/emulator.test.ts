import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, expect, it, onTestFinished } from 'vitest'
import { temporaryFolder } from '../integration-tests/testing/files.ts'
import { flagOf, optionFacts } from './control/option-facts.ts'
import { type Emulator, type EmulatorOptions, startEmulator } from './emulator.ts'
import { help, optionsOf, parseFlags } from './main.ts'
import { askToken, connect, type Item, type TestClient } from './test-client.ts'

const running: Emulator[] = []
const start = async (options: EmulatorOptions) => {
  const emulator = await startEmulator({ people: 3, months: 0, ...options })
  running.push(emulator)
  return emulator
}
afterEach(async () => {
  await Promise.all(running.splice(0).map((emulator) => emulator.close()))
})

it('two tenants run at once, each with its own tokens, records and clock', async () => {
  const [one, other] = [await start({ tenant: 'one' }), await start({ tenant: 'two', seed: 2 })]
  const { token } = await connect(one)
  const headers = { authorization: `Bearer ${token}`, 'user-agent': 'Tests/1 (Acme)' }
  one.advance({ days: 1 })
  one.remove('people', 1)
  expect([
    (await (await connect(other)).get('/people', { headers })).status,
    (await fetch(`${other.url}/tenants/one/.well-known/openid-configuration`)).status,
    (await askToken(other)).status,
    one.config()['tenant'],
    other.config()['tenant'],
    other.all('people').length,
    one.now() > other.now(),
  ]).toEqual([401, 404, 200, 'one', 'two', 3, true])
})

it.each(['127.0.0.1', 'localhost'] as const)(
  'whoever asks at %s has links that lead there, and records of the one tenant',
  async (host) => {
    const emulator = await start({ dialect: 'specification', pageSize: 1 })
    const { base_url } = emulator.config(host)['environment'] as { readonly base_url: string }
    const { token } = await connect(emulator)
    const headers = { authorization: `Bearer ${token}`, 'user-agent': 'Tests/1 (Acme)' }
    const path = '/connector/svcapi/api/v1/work-locations'
    const answer = await fetch(base_url + path, { headers })
    const { value, nextLink } = (await answer.json()) as { value: object[]; nextLink: string }
    expect([value, nextLink.startsWith(`${base_url}${path}?`), base_url.includes(host)]).toEqual([
      emulator.all('work-locations').slice(0, 1),
      true,
      true,
    ])
  },
)

it('turns flags into options', () => {
  const given = { people: '3', 'page-size': '5', dialect: 'specification', 'rate-limit': '10/50' }
  expect(optionsOf({ ...given, compress: true })).toEqual({
    people: 3,
    pageSize: 5,
    dialect: 'specification',
    rateLimit: { perSecond: 10, bucket: 50 },
    compress: true,
  })
})

it.each([
  [{ people: 'many' }, '--people takes a whole number, not "many"'],
  [{ 'page-size': '0' }, '--page-size takes a whole number from 1 on, not "0"'],
  [{ dialect: 'dutch' }, '--dialect takes documentation or specification, not "dutch"'],
  [{ 'rate-limit': 'fast' }, '--rate-limit takes 10 or 10/50, not "fast"'],
])('explains the mistake in %j', (given, sentence) => {
  expect(() => optionsOf(given as Record<string, string>)).toThrow(sentence)
})

it('accepts the flags in the document', () => {
  const lines = readFileSync('docs/emulator.md', 'utf8').match(/^bin.protime-emulator .*/gm) ?? []
  expect(lines.map((line) => optionsOf(parseFlags(line.split(' ').slice(1))))).toEqual([
    { people: 100, months: 6 },
    { tenant: 'acme', seed: 2, port: 4020, controlPort: 4021 },
  ])
})

it.each([
  [0, '2026-11-18'],
  [1, '2026-10-20'],
])(
  'has a configuration that reads %s months, or at least from a day that is past',
  async (months, day) => {
    const emulator = await startEmulator({ people: 1, months })
    onTestFinished(() => emulator.close())
    expect(emulator.config()['start_date']).toBe(day)
  },
)

it('says in its help what each flag means, and where the control endpoint is explained', () => {
  const flags = Object.entries(optionFacts).filter(([, { hasNoFlag }]) => !hasNoFlag)
  const missing = flags.filter(([name]) => !help().includes(`  --${flagOf(name)} `))
  expect([missing, help()]).toEqual([[], expect.stringContaining('docs/emulator.md')])
})

it('writes its configuration to a new file, and never overwrites one', async () => {
  const { path, remove } = temporaryFolder()
  onTestFinished(remove)
  const file = join(path, 'config.json')
  const start = async (...more: string[]) => {
    const flags = ['--port', '0', '--control-port', '0', '--people', '1', '--write-config', file]
    const child = spawn(process.execPath, ['bin/protime-emulator', ...flags, ...more])
    const [told] = (await Promise.race([
      once(child.stdout, 'data'),
      once(child.stderr, 'data'),
    ])) as [Buffer]
    child.kill()
    await once(child, 'close')
    return String(told)
  }
  expect(await start()).toContain('Service')
  const written = readFileSync(file, 'utf8')
  expect(JSON.parse(written)).toMatchObject({ tenant: 'demo', client_id: 'connector' })
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(await start('--tenant', 'acme')).toContain(`${file} exists with other content.`)
  expect(readFileSync(file, 'utf8')).toBe(written)
})

it('says which flags help if its port is in use', async () => {
  const port = Number(new URL((await start({})).url).port)
  await expect(start({ port })).rejects.toThrow(
    `Port ${port} is in use: choose other ports with --port and --control-port.`,
  )
})

it('ends if its configuration cannot be written', async () => {
  const { path, remove } = temporaryFolder()
  onTestFinished(remove)
  const flags = ['--port', '0', '--control-port', '0', '--people', '1', '--write-config', path]
  const child = spawn(process.execPath, ['bin/protime-emulator', ...flags])
  onTestFinished(() => void child.kill())
  const [[told], [code]] = await Promise.all([once(child.stderr, 'data'), once(child, 'close')])
  expect([String(told), code]).toEqual([expect.stringContaining('EISDIR'), 1])
})

const collections = ['clockings', 'contracts', 'counter-groups']

/**
 * A reader that follows the documents: it keeps the newest version of each record and removes deleted ones.
 */
class Copy {
  readonly rows = new Map<number, Item>()

  take(items: readonly Item[]): void {
    for (const item of items) {
      const data = 'changeType' in item ? item.data : item
      const held = this.rows.get(data.id)
      if (held && held.changeVersion > data.changeVersion) continue
      if ('changeType' in item && item.changeType === 'Delete') this.rows.delete(data.id)
      else this.rows.set(data.id, data)
    }
  }
}

const act = fc.record({
  mutation: fc.constantFrom('insert', 'update', 'remove', 'softDelete', 'move', 'restore'),
  collection: fc.constantFrom(...collections),
  at: fc.nat(1000),
})
const history = fc.array(fc.array(act, { maxLength: 6 }), { minLength: 1, maxLength: 5 })
const options: fc.Arbitrary<EmulatorOptions> = fc.record({
  pageSize: fc.integer({ min: 1, max: 40 }),
  deltaPageSize: fc.integer({ min: 0, max: 4 }),
  deltaLog: fc.boolean(),
  netDelta: fc.boolean(),
  plainDeltaItems: fc.boolean(),
})

it('a reader that follows the links gets the same as the service has, whatever changes while it reads', async () => {
  await fc.assert(
    fc.asyncProperty(options, history, async (given, rounds) => {
      const emulator = await startEmulator({ people: 2, months: 0, ...given })
      try {
        for (let count = 0; count < 12; count += 1) {
          emulator.insert('clockings', { date: `2026-11-0${1 + (count % 9)}` })
        }
        const client = await connect(emulator)
        for (const collection of collections) await follow(emulator, client, collection, rounds)
      } finally {
        await emulator.close()
      }
    }),
    { numRuns: 15 },
  )
})

type Rounds = readonly (readonly { mutation: string; collection: string; at: number }[])[]

async function follow(emulator: Emulator, client: TestClient, collection: string, rounds: Rounds) {
  const copy = new Copy()
  const filter = collection === 'clockings' ? "filter=date ge '2026-11-01'&" : ''
  let link = `/${collection}?${filter}delta`
  const left = [...rounds]
  while (true) {
    const { status, body } = await client.get(link)
    expect(status).toBe(200)
    copy.take(body.value)
    const asked = link.includes('/delta/') && body.value.length === 0
    link = body.nextLink ?? body.deltaLink
    const round = left.shift()
    if (round === undefined && asked && body.deltaLink) break
    for (const { mutation, at } of round ?? []) change(emulator, collection, mutation, at)
  }
  const inside = emulator.stored(collection).filter((row) => {
    return collection !== 'clockings' || String(row['date']) >= '2026-11-01'
  })
  expect([...copy.rows.values()].sort((a, b) => a.id - b.id)).toEqual(inside)
}

function change(emulator: Emulator, collection: string, mutation: string, at: number): void {
  const rows = emulator.stored(collection)
  const row = rows[at % rows.length]
  const id = row?.['id'] as number | undefined
  if (mutation === 'insert' || row === undefined || id === undefined) emulator.insert(collection)
  else if (mutation === 'update') emulator.update(collection, id)
  else if (mutation === 'remove') emulator.remove(collection, id)
  else if (mutation === 'softDelete' && collection === 'clockings')
    emulator.softDelete(collection, id)
  else if (mutation === 'move') emulator.update(collection, id, { date: '2026-10-01' })
  else {
    emulator.remove(collection, id)
    emulator.restore(collection, row)
  }
}
