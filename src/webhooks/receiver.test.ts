import { describe, expect, it } from 'vitest'
import type { Hook } from './hooks.ts'
import { sign } from './testing/sign.ts'
import { delivery, KEY, LIVE, NONCE, PATH, startReceiver } from './testing/start-receiver.ts'

const RECORD = '{"changeVersion":"00000A1000005C200020","id":4712,"name":"Zoë €"}'

describe('a signed delivery is answered 200 and told of', () => {
  // spec: Events 1
  // spec: Events 9
  it.each([
    ['a record', RECORD],
    ['an envelope', `{"changeType":"Delete","data":${RECORD}}`],
    ['indented', JSON.stringify(JSON.parse(RECORD), null, 2)],
    ['bytes that are no text', Uint8Array.of(0, 255, 10, 0xc3)],
    ['empty', ''],
    ['broken', RECORD.slice(0, -1)],
    ['deeply nested', '['.repeat(500_000) + ']'.repeat(500_000)],
  ])('when its body is %s', async (_, body) => {
    const { deliver, verified } = await startReceiver()
    expect(await deliver(body)).toBe(200)
    expect(verified).toEqual(['clockings'])
  })

  it('with a warning when its body is not JSON', async () => {
    const { deliver, warnings } = await startReceiver()
    await deliver(RECORD)
    await deliver('')
    expect(warnings).toEqual([
      '1 delivery of clockings was rightly signed but not JSON: it leads to a sync all the same',
    ])
  })

  it.each([
    ['HTTP/1.0', 'HTTP/1.0', ''],
    ['header names in lower case', 'HTTP/1.1', 'host: hooks\r\n'],
    ['identity as its encoding', 'HTTP/1.1', 'Host: hooks\r\nContent-Encoding: Identity\r\n'],
  ])('over %s', async (_, version, headers) => {
    const { open, verified } = await startReceiver()
    const connection = await open()
    connection.write(
      `POST ${PATH} ${version}\r\n${headers}authorization: ${sign('{}', KEY)}\r\ncontent-length: 2\r\n\r\n{}`,
    )
    expect(await connection.answers(1)).toEqual([200])
    expect(verified).toEqual(['clockings'])
  })

  it('in chunks', async () => {
    const { open } = await startReceiver()
    const connection = await open()
    connection.write(
      `POST ${PATH} HTTP/1.1\r\nHost: hooks\r\nTransfer-Encoding: chunked\r\nAuthorization: ${sign('{}', KEY)}\r\n\r\n1\r\n{\r\n1\r\n}\r\n0\r\n\r\n`,
    )
    expect(await connection.answers(1)).toEqual([200])
  })

  it('after it was asked for its body', async () => {
    const { open } = await startReceiver()
    const connection = await open()
    connection.write(
      `POST ${PATH} HTTP/1.1\r\nHost: hooks\r\nExpect: 100-continue\r\nContent-Length: 2\r\nAuthorization: ${sign('{}', KEY)}\r\n\r\n`,
    )
    await expect.poll(() => connection.heard()).toBe('HTTP/1.1 100 Continue\r\n\r\n')
    connection.write('{}')
    expect(await connection.answers(1)).toEqual([200])
  })

  // spec: Events 4
  it('a thousand times over one connection', async () => {
    const { open, counts } = await startReceiver()
    const connection = await open()
    connection.write(Buffer.concat(Array.from({ length: 1000 }, () => delivery(RECORD))))
    expect(new Set(await connection.answers(1000))).toEqual(new Set([200]))
    expect([...counts]).toEqual([[200, 1000]])
  })

  it('with the prefix of the public URL, which a proxy passes on, and a query', async () => {
    const { deliver } = await startReceiver({ prefix: '/protime/' })
    expect(await deliver(RECORD, { path: `/protime${PATH}` })).toBe(200)
    expect(await deliver(RECORD, { path: `${PATH}?a=b` })).toBe(200)
  })
})

describe('a delivery is refused', () => {
  it.each([
    ['with a space after what was signed', `${RECORD} `, sign(RECORD, KEY)],
    [
      'with other bytes than were signed',
      JSON.stringify(JSON.parse(RECORD), null, 1),
      sign(RECORD, KEY),
    ],
    ['by the key of another webhook', RECORD, sign(RECORD, 'other')],
    ['with another scheme', RECORD, sign(RECORD, KEY).replace('256', '512')],
  ])('%s: 401', async (_, body, authorization) => {
    const { deliver, verified, warnings } = await startReceiver()
    expect(await deliver(body, { authorization })).toBe(401)
    expect(verified).toEqual([])
    expect(warnings).toEqual([
      '1 delivery of clockings was answered 401: the signature is missing, or not by a key of this webhook',
    ])
  })

  it.each([
    PATH.slice(0, -1),
    PATH.replace('clockings', 'people'),
    `/other${PATH}`,
    `${PATH}/`,
    '/',
    '/hooks/clockings/..%2F',
  ])('at %s: 404', async (path) => {
    const { deliver, verified } = await startReceiver()
    expect(await deliver(RECORD, { path })).toBe(404)
    expect(verified).toEqual([])
  })

  it('as a GET: 405, saying what is allowed', async () => {
    const { open } = await startReceiver()
    const connection = await open()
    connection.write(`GET ${PATH} HTTP/1.1\r\nHost: hooks\r\n\r\n`)
    expect(await connection.answers(1)).toEqual([405])
    expect(connection.heard()).toMatch(/^allow: POST\r$/im)
  })

  it('in gzip: 415', async () => {
    const { open, warnings } = await startReceiver()
    const connection = await open()
    connection.write(
      `POST ${PATH} HTTP/1.1\r\nHost: hooks\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\n{}`,
    )
    expect(await connection.answers(1)).toEqual([415])
    expect(warnings).toHaveLength(1)
  })

  it('what is not HTTP: 400', async () => {
    const { open, counts } = await startReceiver()
    const connection = await open()
    connection.write('hello\r\n\r\n')
    expect(await connection.answers(1)).toEqual([400])
    await connection.closed
    expect([...counts]).toEqual([[400, 1]])
  })

  it('when it cannot be told of: 503, so that it comes again', async () => {
    const { deliver, warnings } = await startReceiver({
      onDelivery() {
        throw new Error('no room')
      },
    })
    expect(await deliver(RECORD)).toBe(503)
    expect(warnings).toEqual(['1 request could not be served, answered 503: Error: no room'])
  })
})

describe('the webhook of a delivery', () => {
  const creating: Hook = { collection: 'clockings', keys: [], state: 'creating' }
  const becoming = (hook: Hook | undefined) => ({
    hooks: { byNonce: () => creating, settled: async () => hook },
  })

  it('may get its key while the delivery waits', async () => {
    const { deliver, verified } = await startReceiver(becoming(LIVE))
    expect(await deliver(RECORD)).toBe(200)
    expect(verified).toEqual(['clockings'])
  })

  it.each([
    ['a key comes too late', undefined],
    ['it is still being created', creating],
  ])('has no key if %s: 503', async (_, hook) => {
    const { deliver, warnings } = await startReceiver(becoming(hook))
    expect(await deliver(RECORD)).toBe(503)
    expect(warnings[0]).toContain('the key of the webhook was not known in time')
  })

  it('may be retiring', async () => {
    const { deliver, verified } = await startReceiver({ hook: { ...LIVE, state: 'retiring' } })
    expect(await deliver(RECORD)).toBe(200)
    expect(verified).toEqual(['clockings'])
  })
})

it('pages are shown beside the deliveries, and are no answers to one', async () => {
  const page = () => ({ status: 503, contentType: 'application/json', body: '{"é":1}' })
  const { open, counts } = await startReceiver({ pages: new Map([['/healthz', page]]) })
  const connection = await open()
  for (const method of ['GET', 'HEAD', 'POST'])
    connection.write(`${method} /healthz?x HTTP/1.1\r\nHost: hooks\r\n\r\n`)
  expect(await connection.answers(3)).toEqual([503, 503, 405])
  const latin1 = Buffer.from('{"é":1}').toString('latin1')
  expect(connection.heard().split(latin1)).toHaveLength(2)
  expect(counts.size).toBe(0)
})

it('nothing that is logged holds a body, a key or the path', async () => {
  const { deliver, warnings } = await startReceiver()
  await deliver('Zoë')
  await deliver(RECORD, { authorization: sign(RECORD, 'other') })
  await deliver(RECORD, { path: `${PATH}x` })
  expect(warnings).toHaveLength(3)
  for (const secret of ['Zoë', '4712', KEY, NONCE, sign(RECORD, KEY).slice(12)])
    expect(warnings.join('\n')).not.toContain(secret)
})
