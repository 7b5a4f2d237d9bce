import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createVirtualTime } from '../http/testing/virtual-time.ts'
import { createReceiver } from './receiver.ts'
import { openRaw } from './testing/raw-connection.ts'
import { sign } from './testing/sign.ts'
import { delivery, KEY, LIVE, PATH, startReceiver } from './testing/start-receiver.ts'

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

  it('is refused at the limit when its length is not told', async () => {
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

  it('is taken up to the limit', async () => {
    const { deliver } = await startReceiver()
    expect(await deliver(`"${'x'.repeat(MEBIBYTE - 2)}"`)).toBe(200)
  })
})

it('slow senders are answered 408 and hold nobody up', async () => {
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
  expect([...counts]).toEqual([
    [200, 1],
    [408, 300],
  ])
  expect(verified).toHaveLength(1)
})

it('a sender who never reads the answers is cut off', async () => {
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

it('connections beyond the limit are closed, with a warning', async () => {
  const { open, warnings, deliver } = await startReceiver({ limits: { connections: 2 } })
  const [first] = [await open(), await open()]
  const third = await open()
  await third.closed
  expect(warnings).toEqual(['1 connection was refused: 2 are open'])
  first?.end()
  await expect.poll(() => deliver('{}').catch(() => undefined)).toBe(200)
})

it('a storm of wrong signatures is one warning a minute, and none is told of', async () => {
  const time = createVirtualTime()
  const { open, close, verified, warnings } = await startReceiver({ time })
  const connection = await open()
  const wrong = delivery('{}', { authorization: sign('{}', 'other') })
  connection.write(Buffer.concat(Array.from({ length: 10_000 }, () => wrong)))
  expect(new Set(await connection.answers(10_000))).toEqual(new Set([401]))
  expect(verified).toEqual([])
  expect(warnings).toHaveLength(1)
  const wait = (ms: number) => time.run(time.sleep(ms, new AbortController().signal))
  await wait(59_000)
  expect(warnings).toHaveLength(1)
  await wait(10_000)
  expect(warnings[1]).toMatch(/^9999 deliveries of clockings were answered 401/)
  await wait(120_000)
  expect(warnings).toHaveLength(2)
  connection.write(Buffer.concat([wrong, wrong]))
  await connection.answers(10_002)
  await close()
  expect(warnings.slice(2).map((line) => line.split(' ', 1)[0])).toEqual(['1', '1'])
})

describe('when it closes', () => {
  it('what is under way is answered, and its connection closed', async () => {
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

  it('what does not come to an end is cut off after a while', async () => {
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
