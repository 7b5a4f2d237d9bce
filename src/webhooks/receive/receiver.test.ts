import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createVirtualTime } from '../../http/testing/virtual-time.ts'
import type { Hook } from './delivery.ts'
import { createReceiver } from './receiver.ts'
import {
  delivery,
  KEY,
  LIVE,
  NONCE,
  openRaw,
  PATH,
  sign,
  startReceiver,
} from './testing/start-receiver.ts'

const RECORD = '{"changeVersion":"00000A1000005C200020","id":4712,"name":"Zoë €"}'

describe('a signed delivery is answered 200 and reported', () => {
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
      '1 delivery of clockings was with a valid signature but no JSON: it leads to a sync all the same',
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

  it('after it was asked to continue', async () => {
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
      expect.stringMatching(/^1 delivery of clockings was answered 401: the signature is not /),
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
    const { deliver, verified, warnings } = await startReceiver()
    expect(await deliver(RECORD, { path })).toBe(404)
    expect(verified).toEqual([])
    expect(warnings).toHaveLength(1)
  })

  it('as a GET: 405, saying what is allowed', async () => {
    const { open } = await startReceiver()
    const connection = await open()
    connection.write(`GET ${PATH} HTTP/1.1\r\nHost: hooks\r\n\r\n`)
    expect(await connection.answers(1)).toEqual([405])
    expect(connection.heard()).toMatch(/^allow: POST\r$/im)
  })

  it('without a signature, before its body is sent: 401', async () => {
    const { open, warnings } = await startReceiver()
    const connection = await open()
    connection.write(`POST ${PATH} HTTP/1.1\r\nHost: hooks\r\nContent-Length: 1000000\r\n\r\n`)
    expect(await connection.answers(1)).toEqual([401])
    expect(warnings[0]).toContain('was answered 401: they are not signed')
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

  it('if it cannot be reported: 503, so that it is sent again', async () => {
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
  const creating: Hook = { collection: 'clockings', state: 'creating' }
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

  it('that was given up without a key fits no signature: 401', async () => {
    const hook: Hook = { collection: 'clockings', state: 'retiring' }
    const { deliver, verified } = await startReceiver({ hook })
    expect([await deliver(RECORD), verified]).toEqual([401, []])
  })

  it('may be retiring', async () => {
    const { deliver, verified } = await startReceiver({ hook: { ...LIVE, state: 'retiring' } })
    expect(await deliver(RECORD)).toBe(200)
    expect(verified).toEqual(['clockings'])
  })
})

it('pages are served beside the deliveries, but not as answers to one', async () => {
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

it('no line of the log contains a body, a key or the path', async () => {
  const { deliver, warnings } = await startReceiver()
  await deliver('Zoë')
  await deliver(RECORD, { authorization: sign(RECORD, 'other') })
  await deliver(RECORD, { path: `${PATH}x` })
  expect(warnings).toHaveLength(3)
  for (const secret of ['Zoë', '4712', KEY, NONCE, sign(RECORD, KEY).slice(12)])
    expect(warnings.join('\n')).not.toContain(secret)
})

const HEAD = `POST ${PATH} HTTP/1.1\r\nHost: hooks\r\nAuthorization: ${sign('{}', KEY)}\r\n`
const MEBIBYTE = 1_048_576

describe('a body of more than 1 MiB', () => {
  it('is refused before it is sent: 413', async () => {
    const { open, counts } = await startReceiver()
    const connection = await open()
    connection.write(`${HEAD}Expect: 100-continue\r\nContent-Length: ${MEBIBYTE + 1}\r\n\r\n`)
    expect(await connection.answers(1)).toEqual([413])
    expect(connection.heard()).not.toContain('100 Continue')
    expect([...counts]).toEqual([[413, 1]])
  })

  it('is refused while it is sent, and the answer arrives', async () => {
    const { open } = await startReceiver()
    const connection = await open()
    connection.write(`${HEAD}Content-Length: ${4 * MEBIBYTE}\r\n\r\n`)
    connection.write(Buffer.alloc(2 * MEBIBYTE))
    expect(await connection.answers(1)).toEqual([413])
    connection.write(Buffer.alloc(2 * MEBIBYTE))
    await connection.closed
  })

  it('is refused at the limit if its length is not declared', async () => {
    const { open } = await startReceiver()
    const connection = await open()
    connection.write(`${HEAD}Transfer-Encoding: chunked\r\n\r\n${MEBIBYTE.toString(16)}\r\n`)
    connection.write(Buffer.alloc(MEBIBYTE, ' '))
    connection.write('\r\n1\r\n')
    connection.write(' ')
    expect(await connection.answers(1)).toEqual([413])
    connection.write('\r\n0\r\n\r\n')
    await connection.closed
  })

  it('is accepted up to the limit', async () => {
    const { deliver } = await startReceiver()
    expect(await deliver(`"${'x'.repeat(MEBIBYTE - 2)}"`)).toBe(200)
  })
})

it('slow senders are answered 408 and do not delay others', async () => {
  const limits = { headersMs: 500, requestMs: 1500 }
  const { open, deliver, verified, counts } = await startReceiver({ limits })
  const chunked = `${HEAD}Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n`
  const sent = ['', HEAD, `${HEAD}Content-Length: 2\r\n\r\n{`, chunked]
  const stuck = await Promise.all(Array.from({ length: 300 }, open))
  stuck.forEach((connection, i) => {
    connection.write(sent[i % 4] ?? '')
  })
  expect(await deliver('{}')).toBe(200)
  const answers = await Promise.all(stuck.map((connection) => connection.answers(1)))
  expect(new Set(answers.flat())).toEqual(new Set([408]))
  await Promise.all(stuck.map(({ closed }) => closed))
  expect(Object.fromEntries(counts)).toEqual({ 200: 1, 408: 300 })
  expect(verified).toHaveLength(1)
})

it('a sender that never reads the answers is disconnected', async () => {
  const page = () => ({ status: 200, contentType: 'text/plain', body: 'x'.repeat(MEBIBYTE) })
  const { port, deliver } = await startReceiver({
    pages: new Map([['/healthz', page]]),
    limits: { connections: 1, idleMs: 200 },
  })
  const deaf = connect(port, '127.0.0.1').pause()
  onTestFinished(() => void deaf.destroy())
  deaf.write('GET /healthz HTTP/1.1\r\nHost: hooks\r\n\r\n'.repeat(50))
  await once(deaf, 'connect')
  await expect.poll(() => deliver('{}').catch(() => undefined), { timeout: 5000 }).toBe(200)
})

it('headers of more than 16 KiB are refused: 431', async () => {
  const { open } = await startReceiver()
  const connection = await open()
  connection.write(`${HEAD}X: ${'x'.repeat(16_384)}\r\n\r\n`)
  expect(await connection.answers(1)).toEqual([431])
})

it('a connection beyond the limit replaces the one that was silent for the longest time, with a warning', async () => {
  const { open, warnings, deliver } = await startReceiver({ limits: { connections: 3 } })
  const silent = [await open(), await open()]
  const busy = await open()
  busy.write(delivery('{}'))
  await busy.answers(1)
  silent[0]?.write(`${HEAD}Content-Length: 2\r\n\r\n{`)
  await expect.poll(() => deliver('{}')).toBe(200)
  await silent[1]?.closed
  expect(warnings).toEqual(['1 connection was closed before it had sent a request: 3 are open'])
  busy.write(delivery('{}'))
  expect(await busy.answers(2)).toEqual([200, 200])
})

it('many wrong signatures cause one warning a minute, and none is reported', async () => {
  const time = createVirtualTime()
  const { open, close, verified, warnings } = await startReceiver({ time })
  const connection = await open()
  const wrong = delivery('{}', { authorization: sign('{}', 'other') })
  connection.write(Buffer.concat(Array.from({ length: 2_000 }, () => wrong)))
  expect(new Set(await connection.answers(2_000))).toEqual(new Set([401]))
  expect(verified).toEqual([])
  expect(warnings).toHaveLength(1)
  const wait = (ms: number) => time.run(time.sleep(ms, new AbortController().signal))
  await wait(59_000)
  expect(warnings).toHaveLength(1)
  await wait(10_000)
  expect(warnings[1]).toMatch(/^1999 deliveries of clockings were answered 401/)
  await wait(120_000)
  expect(warnings).toHaveLength(2)
  connection.write(Buffer.concat([wrong, wrong]))
  await connection.answers(2_002)
  await close()
  expect(warnings.slice(2).map((line) => line.split(' ', 1)[0])).toEqual(['1', '1'])
})

describe('when it closes', () => {
  it('active requests are answered, and their connections closed', async () => {
    const { open, close, port, verified } = await startReceiver()
    const connection = await open()
    connection.write(`${HEAD}Content-Length: 2\r\n\r\n{`)
    const idle = await open()
    idle.write(delivery('{}'))
    await idle.answers(1)
    const closed = close()
    await idle.closed
    connection.write('}')
    expect(await connection.answers(1)).toEqual([200])
    expect(connection.heard()).toMatch(/^connection: close\r$/im)
    await closed
    expect(verified).toHaveLength(2)
    await expect(openRaw(port)).rejects.toThrow('ECONNREFUSED')
  })

  it('requests that do not end are aborted after a while', async () => {
    const { open, close } = await startReceiver({ limits: { closeMs: 50 } })
    const connection = await open()
    connection.write(`${HEAD}Content-Length: 2\r\n\r\n{`)
    await close()
    await connection.closed
    expect(connection.statuses()).toEqual([])
  })
})

it('a port that is in use is an error', async () => {
  const taken = createServer().listen(0, '127.0.0.1')
  await once(taken, 'listening')
  const { port } = taken.address() as { port: number }
  const receiver = createReceiver({
    hooks: { byNonce: () => LIVE, settled: async () => LIVE },
    onDelivery() {},
    log: { info() {}, warn() {}, debug() {} },
  })
  await expect(receiver.listen(port, '127.0.0.1')).rejects.toThrow('EADDRINUSE')
  taken.close()
})
