import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createHandler, createNewest, type HandlerOptions } from './create-handler.ts'
import type { WebhookEvent } from './delivery.ts'
import { sign } from './testing/sign.ts'

const KEY = 'k3y-é/+='
const URL_OF_HOOK = 'https://acme.example/hooks/clockings/nonce'
const RECORD = '{"changeVersion":"00A","id":4712,"hours":7.10}'

describe('the handler of deliveries', () => {
  it('answers 200 when the event is stored, and not before', async () => {
    const steps: unknown[] = []
    const handler = handlerOf({
      async onEvent({ collection, id, changeVersion, body }) {
        await new Promise(setImmediate)
        steps.push([collection, id, changeVersion, body.toString()])
      },
    })
    const { status } = await handler(signed(RECORD))
    steps.push(status)
    expect(steps).toEqual([['clockings', 4712, '00A', RECORD], 200])
  })

  // spec: Events 5
  it('answers 503 when it cannot be stored, so that it comes again', async () => {
    const errors: unknown[] = []
    const full = new Error('disk full')
    const handler = handlerOf({
      onEvent: () => Promise.reject(full),
      onError: (error) => void errors.push(error),
    })
    expect((await handler(signed(RECORD))).status).toBe(503)
    expect(errors).toEqual([full])
  })

  it('asks for the keys of the path alone', async () => {
    const paths: string[] = []
    const handler = handlerOf({
      async keysOf(path) {
        paths.push(path)
        return [KEY]
      },
    })
    await handler(signed(RECORD, { url: `${URL_OF_HOOK}?a=b` }))
    expect(paths).toEqual(['/hooks/clockings/nonce'])
  })

  it('takes the collection from the path as it is told', async () => {
    const events: WebhookEvent[] = []
    const handler = handlerOf({
      keysOf: () => [KEY],
      collectionOf: (path) => path.slice(1),
      onEvent: (event) => void events.push(event),
    })
    await handler(signed(RECORD, { url: 'https://acme.example/people' }))
    expect(events[0]?.collection).toBe('people')
  })

  it.each([
    [401, 'is not signed', new Request(URL_OF_HOOK, { method: 'POST', body: RECORD })],
    [401, 'was changed', signed(`${RECORD} `, { authorization: sign(RECORD, KEY) })],
    [400, 'is signed and not JSON', signed('{"id":')],
    [400, 'is signed and empty', signed('')],
    [
      404,
      'has an unknown path',
      signed(RECORD, { url: 'https://acme.example/hooks/people/nonce' }),
    ],
    [405, 'is a PUT', signed(RECORD, { method: 'PUT' })],
    [415, 'is in gzip', signed(RECORD, { headers: { 'content-encoding': 'gzip' } })],
    [413, 'says that it is too long', signed(RECORD, { headers: { 'content-length': '101' } })],
    [413, 'is too long', signed(`"${'x'.repeat(99)}"`)],
  ])('answers %i to what %s', async (expected, _, request) => {
    const events: WebhookEvent[] = []
    const handler = handlerOf({ maxBytes: 100, onEvent: (event) => void events.push(event) })
    const { status, headers } = await handler(request)
    expect(status).toBe(expected)
    expect(headers.get('allow')).toBe(expected === 405 ? 'POST' : null)
    expect(events).toEqual([])
  })
})

function handlerOf(options: Partial<HandlerOptions>) {
  return createHandler({
    keysOf: (path) => (path === '/hooks/clockings/nonce' ? [KEY] : undefined),
    onEvent() {},
    ...options,
  })
}

function signed(
  body: string,
  {
    url = URL_OF_HOOK,
    method = 'POST',
    authorization = sign(body, KEY),
    headers = {},
  }: {
    readonly url?: string
    readonly method?: string
    readonly authorization?: string
    readonly headers?: Readonly<Record<string, string>>
  } = {},
): Request {
  return new Request(url, { method, body, headers: { authorization, ...headers } })
}

describe('the newest version of a record', () => {
  // spec: Events 3
  // spec: Events 4
  it('is known whatever the order of deliveries, and only once', () => {
    const newest = createNewest()
    const delivered = ['v3', 'v1', 'v2', 'v3', 'v4']
    expect(delivered.filter((version) => newest('people', 7, version))).toEqual(['v3', 'v4'])
  })

  it('is that of one record of one collection, whose id may be written as text', () => {
    const newest = createNewest()
    expect(newest('people', 7, 'v2')).toBe(true)
    expect(newest('people', '7', 'v1')).toBe(false)
    expect(newest('people', 8, 'v1')).toBe(true)
    expect(newest('breaks', 7, 'v1')).toBe(true)
  })

  it('is the greatest text by code units, as the service orders them', () => {
    const versions = fc.array(fc.string({ unit: 'grapheme' }), { minLength: 1 })
    fc.assert(
      fc.property(versions, (delivered) => {
        const newest = createNewest()
        const kept = delivered.filter((version) => newest('people', 7, version))
        expect(kept.at(-1)).toBe(delivered.toSorted().at(-1))
        expect(kept).toEqual([...new Set(kept)].toSorted())
      }),
    )
  })

  it('is forgotten first of the record that was not asked about for longest', () => {
    const newest = createNewest({ capacity: 2 })
    newest('people', 1, 'v2')
    newest('people', 2, 'v2')
    newest('people', 1, 'v1')
    newest('people', 3, 'v2')
    expect(newest('people', 1, 'v2')).toBe(false)
    expect(newest('people', 2, 'v1')).toBe(true)
  })

  it('needs room for one record', () => {
    expect(() => createNewest({ capacity: 0 })).toThrow(RangeError)
  })
})
