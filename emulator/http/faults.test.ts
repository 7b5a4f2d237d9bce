import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Emulator, startEmulator } from '../emulator.ts'
import { askToken, connect, type TestClient } from '../test-client.ts'

let emulator: Emulator
let client: TestClient
beforeEach(async () => {
  const clients = [{ id: 'writer', secret: 'b', scopes: 'all' }] as const
  emulator = await startEmulator({ people: 3, months: 0, clients })
  client = await connect(emulator)
})
afterEach(() => emulator.close())

const statuses = async (...paths: string[]) => {
  const all: number[] = []
  for (const path of paths) all.push((await client.get(path)).status)
  return all
}

/** The text of an answer, with a byte order mark if it has one. */
const bodyOf = async (path: string) => {
  const headers = { authorization: `Bearer ${client.token}`, 'user-agent': 'Tests/1 (Acme)' }
  const answer = await fetch(`${emulator.url}/connector/protimeapi/api/v1${path}`, { headers })
  return Buffer.from(await answer.arrayBuffer()).toString()
}

describe('a failure', () => {
  it('happens the given number of times, after the given number of requests', async () => {
    emulator.fail('/people', 503, { times: 2, skip: 1 })
    expect(await statuses('/people', '/people', '/people', '/people')).toEqual([200, 503, 503, 200])
  })

  it('lasts until it is cleared if no number is given', async () => {
    emulator.fail('/people', 500)
    const before = await statuses('/people', '/people')
    emulator.clearFaults()
    expect([...before, ...(await statuses('/people'))]).toEqual([500, 500, 200])
  })

  it('applies to everything below the path, but to no other collection', async () => {
    emulator.fail('/counter', 500)
    emulator.fail('/people', 500)
    expect(await statuses('/people/1', '/counter-groups')).toEqual([500, 200])
  })

  it('applies to the query if it is a pattern or a text with a question mark', async () => {
    emulator.fail(/continuationToken=/, 500)
    emulator.fail('/jobs?delta', 409)
    expect(await statuses('/people?continuationToken=x', '/jobs', '/jobs?delta')).toEqual([
      500, 200, 409,
    ])
  })

  it('has the given headers and body', async () => {
    emulator.fail('/people', 429, { headers: { 'retry-after': '60' }, body: '{}' })
    const { headers, body } = await client.get('/people')
    expect([headers.get('retry-after'), body]).toEqual(['60', {}])
  })

  it('applies to the token service', async () => {
    emulator.fail('/connect/token', 503, { times: 1 })
    expect(await askToken(emulator)).toMatchObject({ status: 503 })
  })
})

describe('a fault', () => {
  it.each(['reset', 'truncate', 'half-then-reset', 'after-last-byte'] as const)(
    '%s leaves the client without an answer',
    async (kind) => {
      emulator.fault('/people', kind, { times: 1 })
      await expect(client.get('/people')).rejects.toThrow(/terminated|fetch failed/)
    },
  )

  it('truncate sends the given number of bytes', async () => {
    emulator.fault('/people', 'truncate', { afterBytes: 12 })
    const url = `${emulator.url}/connector/protimeapi/api/v1/people`
    const headers = { authorization: `Bearer ${client.token}`, 'user-agent': 'Tests/1 (Acme)' }
    const { body } = await fetch(url, { headers })
    const { value } = (await body?.getReader().read()) ?? {}
    expect(Buffer.from(value ?? []).toString()).toBe('{"value":[{"')
  })

  it('after-last-byte leaves the side effects', async () => {
    emulator.options.usedDeltaLink = 'gone'
    const { deltaLink = '' } = await client.walk('/people?delta')
    emulator.fault('/delta/people', 'after-last-byte', { times: 1 })
    await expect(client.get(deltaLink)).rejects.toThrow()
    expect(await client.get(deltaLink)).toMatchObject({ status: 410 })
  })

  it('html is no JSON', async () => {
    emulator.fault('/people', 'html')
    expect((await client.get('/people')).body).toContain('<html>')
  })

  it('slow takes its time and is complete', async () => {
    emulator.fault('/people', 'slow', { ms: 100 })
    const began = performance.now()
    const { body } = await client.get('/people')
    expect([body.value.length, performance.now() - began > 80]).toEqual([3, true])
  })

  it('hang never answers', async () => {
    emulator.fault('/people', 'hang')
    const signal = AbortSignal.timeout(100)
    const headers = { authorization: `Bearer ${client.token}`, 'user-agent': 'Tests/1 (Acme)' }
    await expect(client.get('/people', { signal, headers })).rejects.toThrow('timeout')
  })
})

describe('a fault of a write', () => {
  const place = { name: { default: 'Yard' } }

  it('after-last-byte leaves what a write has done', async () => {
    const before = emulator.all('work-locations').length
    emulator.fault('/work-locations', 'after-last-byte', { times: 1, method: 'post' })
    const read = await client.get('/work-locations')
    await expect(client.send('POST', '/work-locations', place)).rejects.toThrow()
    expect([read.status, emulator.all('work-locations').length]).toEqual([200, before + 1])
  })

  const countAfter = async (wrong: () => void) => {
    const count = () => emulator.all('work-locations').length
    const before = count()
    wrong()
    const signal = AbortSignal.timeout(300)
    const headers = { authorization: `Bearer ${client.token}`, 'user-agent': 'Tests/1 (Acme)' }
    const init = { method: 'POST', body: JSON.stringify(place), headers, signal }
    const answer = await client.get('/work-locations', init).catch(() => undefined)
    return { status: answer?.status, made: () => count() - before }
  }

  it.each([500, 503, 524])('%i with an effect is a write that is done', async (status) => {
    const after = await countAfter(() => emulator.fail('/work-locations', status, { effectMs: 0 }))
    expect([after.status, after.made()]).toEqual([status, 1])
  })

  it('503 with a late effect is a write that is done after the answer', async () => {
    const after = await countAfter(() => emulator.fail('/work-locations', 503, { effectMs: 150 }))
    expect([after.status, after.made()]).toEqual([503, 0])
    await expect.poll(after.made).toBe(1)
  })

  it.each(['reset', 'html', 'hang'] as const)('%s with an effect is a write done', async (kind) => {
    const after = await countAfter(() => emulator.fault('/work-locations', kind, { effectMs: 0 }))
    expect(after.made()).toBe(1)
  })

  it('repeat writes twice, and the second answer arrives', async () => {
    const after = await countAfter(() => emulator.fault('/work-locations', 'repeat', { times: 1 }))
    expect([after.status, after.made()]).toEqual([201, 2])
  })

  it('has no second effect for what the service does anyway', () => {
    const wrong = () => emulator.fault('/work-locations', 'slow', { effectMs: 0 })
    expect(wrong).toThrow('effectMs goes with reset, html, hang, not with slow')
  })

  it('reset leaves no trace of a write', async () => {
    const path = '/external-references/people/hr/A1'
    emulator.fault(path, 'reset', { times: 1 })
    await expect(client.send('PUT', path, { internalReference: '1' })).rejects.toThrow()
    expect(await client.get(path)).toMatchObject({ status: 404 })
  })
})

describe('a list is once', () => {
  const ids = async (path: string) => (await client.walk(path)).items.map(({ id }) => id)

  it.each(['/people', '/people?delta'])('short: %s lacks every second record', async (path) => {
    emulator.fault('/people', 'short', { times: 1 })
    expect([await ids(path), await ids(path)]).toEqual([[2], [1, 2, 3]])
  })

  it('short on the given page, while the others do not change', async () => {
    emulator.options.pageSize = 2
    emulator.fault(/continuationToken/, 'short', { times: 1 })
    expect([await ids('/people'), await ids('/people')]).toEqual([
      [1, 2],
      [1, 2, 3],
    ])
  })

  it('silent about a change, which no later answer of the delta reports', async () => {
    const first = await client.walk('/people?delta')
    emulator.update('people', 2, { lastName: 'Changed' })
    emulator.fault('/delta/people', 'empty', { times: 1 })
    const next = await client.walk(first.deltaLink ?? '')
    const last = await client.walk(next.deltaLink ?? '')
    expect([next.items, last.items]).toEqual([[], []])
  })

  it.each(['/people', '/people?delta'])('empty: %s ends with its first page', async (path) => {
    emulator.options.pageSize = 1
    emulator.fault('/people', 'empty', { times: 1 })
    expect([await ids(path), await ids(path)]).toEqual([[], [1, 2, 3]])
  })

  it('stale: all its pages lack the latest changes of the collection', async () => {
    emulator.options.pageSize = 2
    const [first] = emulator.stored('people')
    emulator.remove('people', 2)
    emulator.update('people', 1, { firstName: 'Ann' })
    emulator.insert('people')
    emulator.insert('jobs')
    emulator.fault('/people', 'stale', { times: 1, changes: 3 })
    const { items } = await client.walk('/people')
    expect([items.map(({ id }) => id), items[0], await ids('/people')]).toEqual([
      [1, 2, 3],
      first,
      [1, 3, 4],
    ])
  })

  it('stale as at the start if it lacks more changes than there were', async () => {
    emulator.insert('people')
    emulator.fault('/people', 'stale', { times: 1, changes: 99 })
    expect(await ids('/people')).toEqual([1, 2, 3])
  })

  it('stale at the start of a delta, which reports these changes later', async () => {
    emulator.insert('people')
    emulator.fault('/people', 'stale', { times: 1 })
    const { items, deltaLink = '' } = await client.walk('/people?delta')
    const later = (await client.walk(deltaLink)).items
    expect([items.length, later.map(({ data }) => data.id)]).toEqual([3, [4]])
  })

  it.each(['short', 'empty'] as const)('%s also when it is one of references', async (kind) => {
    for (const id of [1, 2]) emulator.setReference('people', 'hr', `A${id}`, id)
    emulator.fault('/external-references', kind, { times: 1 })
    const values = async () =>
      (await client.walk('/external-references/people/hr')).items.map(
        (one) => one.externalReference,
      )
    expect([await values(), await values()]).toEqual([kind === 'short' ? ['A2'] : [], ['A1', 'A2']])
  })

  it.each([404, 405])('not offered: a delta answers %i at its start', async (status) => {
    emulator.fail(/^\/people\?(.*&)?delta$/, status, { times: 1 })
    const paths = ['/people', '/people?externalReferences=(people,@badge-number)&delta']
    expect(await statuses(...paths, '/people?delta')).toEqual([200, status, 200])
  })
})

describe('a handler', () => {
  it('responds with anything, or leaves a request to the service', async () => {
    emulator.respond('/people', ({ parameters }) =>
      parameters.has('x') ? { status: 418, body: parts() } : undefined,
    )
    const { status, body } = await client.get('/people?x')
    expect([status, body, ...(await statuses('/people'))]).toEqual([418, 'one two', 200])
  })

  async function* parts() {
    yield Buffer.from('one ')
    yield Buffer.from('two')
  }
})

describe('the service', () => {
  it('logs its requests', async () => {
    await client.get('/people?delta')
    const { method, path, query, status, userAgent } = emulator.requests.at(-1) ?? {}
    expect({ method, path, query, status, userAgent }).toEqual({
      method: 'GET',
      path: '/people',
      query: 'delta',
      status: 200,
      userAgent: 'Tests/1 (Acme)',
    })
  })

  it('lets a listener change data before the response', async () => {
    const stop = emulator.onRequest(({ path }) => {
      if (path === '/people') emulator.insert('people')
    })
    const during = (await client.get('/people')).body.value.length
    stop()
    expect([during, (await client.get('/people')).body.value.length]).toEqual([4, 4])
  })

  it('limits the rate and says when to come back', async () => {
    // One token in a thousand seconds, so that none is added while the test runs.
    emulator.options.rateLimit = { perSecond: 0.001, bucket: 2 }
    expect(await statuses('/people', '/people')).toEqual([200, 200])
    const { status, headers } = await client.get('/people')
    const seconds = Number(headers.get('retry-after'))
    expect([status, seconds > 900 && seconds <= 1000]).toEqual([429, true])
  })

  it('compresses on request', async () => {
    emulator.options.compress = true
    const { headers, body } = await client.get('/people')
    expect([headers.get('content-encoding'), body.value.length]).toEqual(['gzip', 3])
  })

  it('begins JSON bodies with a byte order mark on request', async () => {
    emulator.options.byteOrderMark = true
    expect((await bodyOf('/people')).slice(0, 10)).toBe('\ufeff{"value":')
  })

  it('says another time than its clock on request, in refusals too', async () => {
    const dateOf = async (path: string) => (await client.get(path)).headers.get('date') ?? ''
    const now = await dateOf('/people')
    emulator.options.dateHeader = '2150-01-01T00:00:00Z'
    const dates = [await dateOf('/people'), await dateOf('/nothing')]
    expect(dates).toEqual(dates.map(() => 'Thu, 01 Jan 2150 00:00:00 GMT'))
    expect(Date.parse(now)).toBeLessThanOrEqual(emulator.now().getTime())
  })

  it('spells JSON in another way in each answer on request', async () => {
    const plain = await bodyOf('/people')
    emulator.options.jsonSpelling = 'varied'
    const [one, two] = [await bodyOf('/people'), await bodyOf('/people')]
    expect(one).toMatch(/\\u00[67]/)
    expect(one).toMatch(/[\n\t]/)
    const namesOf = (body: string) => Object.keys(JSON.parse(body).value[0])
    expect(namesOf(one)).not.toEqual(namesOf(plain))
    expect(namesOf(one)).not.toEqual(namesOf(two))
    expect(two).not.toBe(one)
    expect([one, two].map((body) => JSON.parse(body))).toEqual(Array(2).fill(JSON.parse(plain)))
  })

  it('delays its answers on request', async () => {
    emulator.options.latencyMs = 60
    const began = performance.now()
    await client.get('/people')
    expect(performance.now() - began).toBeGreaterThan(50)
  })
})
