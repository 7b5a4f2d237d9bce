import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { createServer as createNetServer } from 'node:net'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { describe, expect, it, onTestFinished } from 'vitest'
import { allowUnoptimisedParser, keepNextUnoptimised, optimiseAgain } from '../ground/v8.ts'
import { ReceivedBody } from './response-body.ts'
import {
  listen,
  type Responder,
  reply,
  replyText,
  startHttpService,
} from './testing/http-service.ts'
import { failureOf } from './testing/open-client.ts'
import { createTransport, type Reply } from './transport.ts'

const { signal } = new AbortController()

function get(url: string, silenceSeconds = 5): Promise<Reply> {
  const transport = createTransport(silenceSeconds)
  onTestFinished(() => transport.close())
  return transport.send({ url, method: 'GET', headers: {}, signal })
}

async function getFrom(answer: Responder, silenceSeconds?: number): Promise<Reply> {
  return get((await startHttpService(answer)).origin, silenceSeconds)
}

const TEXT = 'any text '.repeat(1000)

describe('a body', () => {
  it.each([
    ['as it is', undefined, Buffer.from(TEXT)],
    ['as it is, by name', 'identity', Buffer.from(TEXT)],
    ['by gzip', 'gzip', gzipSync(TEXT)],
    ['by gzip, in its old name and other letters', ' X-GZIP', gzipSync(TEXT)],
    ['by brotli', 'br', brotliCompressSync(TEXT)],
  ])('arrives when it is encoded %s', async (_, encoding, bytes) => {
    const answer = await getFrom((_request, response) => {
      if (encoding !== undefined) response.setHeader('content-encoding', encoding)
      response.end(bytes)
    })
    expect(await replyText(answer)).toBe(TEXT)
  })

  it.each([
    ['gzip', gzipSync],
    ['br', brotliCompressSync],
  ])('that is decompressed (%s) comes in few large parts', async (encoding, compress) => {
    const answer = await getFrom((_request, response) => {
      response.setHeader('content-encoding', encoding)
      response.end(compress(Buffer.alloc(1024 * 1024)))
    })
    const sizes: number[] = []
    for await (const part of answer.body) sizes.push(part.length)
    expect(sizes).toEqual([262_144, 262_144, 262_144, 262_144])
  })

  it('in an encoding that was not requested is a system failure', async () => {
    const answer = await getFrom((_, response) =>
      reply(response, 200, TEXT, { 'content-encoding': 'zstd' }),
    )
    expect(await failureOf(replyText(answer))).toMatchObject({
      failure: 'system',
      message: expect.stringMatching(/encoding "zstd", which was not requested/),
    })
  })

  it('in an unknown encoding releases its connection', async () => {
    const closed = { isIt: false }
    const answer = await getFrom((_, response) => {
      response.socket?.on('close', () => {
        closed.isIt = true
      })
      response.setHeader('content-encoding', 'zstd').write(TEXT)
    })
    await failureOf(replyText(answer))
    await expect.poll(() => closed.isIt).toBe(true)
  })

  it.each([
    ['gzip', Buffer.from('this is not gzip')],
    ['gzip', gzipSync(randomBytes(5000)).subarray(0, 2000)],
    ['br', Buffer.from('this is not brotli at all')],
    ['br', brotliCompressSync(randomBytes(5000)).subarray(0, 2000)],
  ])('that is broken %s may arrive whole the next time', async (encoding, bytes) => {
    const answer = await getFrom((_, response) => {
      response.setHeader('content-encoding', encoding)
      response.end(bytes)
    })
    expect(await failureOf(replyText(answer))).toMatchObject({ failure: 'transient' })
  })

  it.each([
    ['gzip', gzipSync(randomBytes(500_000))],
    ['br', brotliCompressSync(randomBytes(500_000))],
  ])('that breaks in the middle of its %s is a transient failure', async (encoding, bytes) => {
    const answer = await getFrom((_, response) => {
      response.setHeader('content-encoding', encoding)
      response.write(bytes.subarray(0, 250_000))
      setTimeout(() => response.destroy(), 50)
    })
    expect(await failureOf(replyText(answer))).toMatchObject({ failure: 'transient' })
  })

  it('may be larger than the memory: it arrives as it is read', async () => {
    const part = Buffer.alloc(1024 * 1024, 'x')
    const sent = { parts: 0 }
    const answer = await getFrom(async (_, response) => {
      const closed = new Promise((resolve) => response.once('close', resolve))
      for (; sent.parts < 200 && !response.destroyed; sent.parts++) {
        if (response.write(part)) continue
        await Promise.race([closed, new Promise((resolve) => response.once('drain', resolve))])
      }
      response.end()
    })
    const iterator = answer.body[Symbol.asyncIterator]()
    await iterator.next()
    await new Promise((resolve) => setTimeout(resolve, 100))
    answer.discard()
    expect(sent.parts).toBeLessThan(50)
  })

  it('is abandoned if the service falls silent', async () => {
    const answer = await getFrom((_, response) => response.writeHead(200).write('half'), 0.2)
    expect(await failureOf(replyText(answer))).toMatchObject({
      failure: 'transient',
      message: expect.stringMatching(/UND_ERR_BODY_TIMEOUT/),
    })
  })

  it.each([undefined, 'gzip'])(
    'is not given up while it is our reader who is slow (%s)',
    async (encoding) => {
      const bytes = randomBytes(8 * 1024 * 1024)
      // Created before the request: while this process is busy, the service is silent for the client.
      const sent = encoding === undefined ? bytes : gzipSync(bytes)
      const answer = await getFrom((_, response) => {
        if (encoding !== undefined) response.setHeader('content-encoding', encoding)
        response.end(sent)
      }, 0.2)
      let size = 0
      for await (const part of answer.body) {
        if (size === 0) await new Promise((resolve) => setTimeout(resolve, 1500))
        size += part.length
      }
      expect(size).toBe(bytes.length)
    },
  )

  it('that is no longer needed does no harm', async () => {
    const answer = await getFrom((_, response) => response.write('half'))
    answer.discard()
    expect(await failureOf(replyText(answer))).toMatchObject({ failure: 'transient' })
  })
})

describe('a header', () => {
  it('that is sent twice is read once', async () => {
    const answer = await getFrom((_, response) => {
      response.setHeader('retry-after', ['5', '7']).end()
    })
    expect(answer.header('retry-after')).toBe('5')
  })
})

describe('a connection', () => {
  it('is kept for the next request', async () => {
    const ports = new Set<number | undefined>()
    const { origin } = await startHttpService((_, response) => {
      ports.add(response.socket?.remotePort)
      response.end('x')
    })
    const transport = createTransport(5)
    onTestFinished(() => transport.close())
    for (let i = 0; i < 10; i++) {
      await replyText(await transport.send({ url: origin, method: 'GET', headers: {}, signal }))
    }
    // undici may open a second connection while it cleans up after the first answer.
    expect(ports.size).toBeLessThan(3)
  })

  it('that is refused is a transient failure', async () => {
    const server = createNetServer()
    const port = await listen(server)
    await new Promise((resolve) => server.close(resolve))
    expect(await failureOf(get(`http://127.0.0.1:${port}`))).toMatchObject({
      failure: 'transient',
      message: expect.stringMatching(
        /^127\.0\.0\.1:\d+ could not be reached \(ECONNREFUSED\)\. Check /,
      ),
    })
  })

  it('to an unknown host is an error that says what to check', async () => {
    expect(await failureOf(get('http://acme.protime.invalid'))).toMatchObject({
      failure: 'transient',
      message: expect.stringMatching(/acme\.protime\.invalid/),
    })
  })

  it('to a service that stays silent is abandoned', async () => {
    expect(await failureOf(getFrom(() => {}, 0.2))).toMatchObject({
      failure: 'transient',
      message: expect.stringMatching(/UND_ERR_HEADERS_TIMEOUT/),
    })
  })

  it('to a server that does not speak HTTP is a transient failure', async () => {
    const port = await listen(
      createNetServer((socket) => socket.end('220 mail.example ESMTP\r\n\r\n')),
    )
    expect(await failureOf(get(`http://127.0.0.1:${port}`))).toMatchObject({
      failure: 'transient',
      message: expect.stringMatching(/does not match the HTTP/),
    })
  })
})

describe('a connection that is never made, because the TLS handshake is not answered', () => {
  it('is no longer awaited when the signal is aborted, and is closed at the end', async () => {
    const closed: Promise<unknown>[] = []
    const stop = new AbortController()
    const server = createNetServer((socket) => {
      closed.push(once(socket, 'close'))
      socket.on('error', () => {}).resume()
      stop.abort(new Error('stopped'))
    })
    const transport = createTransport(120)
    const url = `https://127.0.0.1:${await listen(server)}`
    const answer = transport.send({ url, method: 'GET', headers: {}, signal: stop.signal })
    expect((await failureOf(answer)).message).toBe('stopped')
    await transport.close()
    await Promise.all(closed)
    expect(closed).toHaveLength(1)
    // Well before the 30 seconds after which a connection times out.
  }, 15_000)
})

const MEBIBYTE = 1024 * 1024
const LATER = Number.POSITIVE_INFINITY

/** A body whose source has `parts` of one mebibyte each, and sends one per turn unless it is paused. */
function bodyOf(parts: number) {
  const told: string[] = []
  const source = { isPaused: false, sent: 0 }
  const body = new ReceivedBody(
    {
      pause() {
        source.isPaused = true
        told.push('pause')
      },
      resume() {
        source.isPaused = false
        told.push('resume')
        setImmediate(send)
      },
      abort: (reason) => void told.push(`abort: ${reason.message}`),
    },
    (error) => new Error(`Broken: ${error.message}`),
  )
  const send = () => {
    if (source.isPaused) return
    if (source.sent === parts) return body.end()
    source.sent++
    body.push(Buffer.alloc(MEBIBYTE))
    setImmediate(send)
  }
  setImmediate(send)
  return { body, source, told }
}

describe('a body that arrives faster than it is read', () => {
  it('pauses its source until its reader comes back, at any size', async () => {
    const { body, source } = bodyOf(40)
    let read = 0
    for await (const part of body) {
      read += part.length
      for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate)
      expect(source.sent - read / MEBIBYTE).toBeLessThanOrEqual(2)
    }
    expect(read).toBe(40 * MEBIBYTE)
  })

  it('waits after its beginning was collected, and continues when the rest is read', async () => {
    const { body, source } = bodyOf(20)
    const { parts, state } = await body.collect(4 * MEBIBYTE, LATER)
    expect([parts.length, state]).toEqual([5, 'large'])
    for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate)
    expect(source.sent).toBe(5)
    let rest = 0
    for await (const part of body) rest += part.length
    expect(rest).toBe(15 * MEBIBYTE)
  })
})

describe('a body in parts of one byte', () => {
  it('is joined into larger parts', async () => {
    const { body } = bodyOf(0)
    for (let i = 0; i < 100_000; i++) body.push(Buffer.from([i % 251]))
    body.push(Buffer.alloc(5000, 7))
    body.push(Buffer.from([8]))
    const { parts } = await body.collect(MEBIBYTE, LATER)
    expect(parts.length).toBeLessThan(10)
    const whole = [...Array.from({ length: 100_000 }, (_, i) => i % 251), ...Array(5000).fill(7), 8]
    expect(Buffer.concat(parts).equals(Buffer.from(whole))).toBe(true)
  })
})

describe('a body that is collected', () => {
  it('is complete if it ends exactly at the limit', async () => {
    const { parts, state } = await bodyOf(4).body.collect(4 * MEBIBYTE, LATER)
    expect([parts.length, state]).toEqual([4, 'whole'])
  })

  it('is late when a part arrives after the time', async () => {
    expect((await bodyOf(4).body.collect(4 * MEBIBYTE, 0)).state).toBe('late')
  })

  it('fails when it breaks', async () => {
    const { body } = bodyOf(1000)
    setTimeout(() => body.fail(new Error('reset')))
    await expect(body.collect(5000 * MEBIBYTE, LATER)).rejects.toThrow('Broken: reset')
  })
})

describe('a body that is no longer needed', () => {
  it('aborts its source once, when its reader stops', async () => {
    const { body, told } = bodyOf(40)
    for await (const _ of body) break
    body.discard(new Error('again'))
    expect(told.filter((what) => what.startsWith('abort'))).toHaveLength(1)
  })

  it('aborts nothing after its end', async () => {
    const { body, told } = bodyOf(1)
    await body.collect(MEBIBYTE, LATER)
    body.discard(new Error('not wanted'))
    expect(told).toEqual([])
  })
})

it("V8's flags are not changed, unless one of our programs allows it, once", () => {
  const flags: string[] = []
  const set = (flag: string) => void flags.push(flag)
  const request = () => {
    keepNextUnoptimised(set)
    optimiseAgain(set)
  }
  request()
  expect(flags).toEqual([])
  allowUnoptimisedParser()
  request()
  request()
  expect(flags).toEqual(['--wasm-tier-up-filter=1000000', '--wasm-tier-up-filter=-1'])
})

it('every program that requests the service allows it before its first request, and no other code does', () => {
  const asking = (file: string) => readFileSync(file, 'utf8').includes('allowUnoptimisedParser()')
  const programs = readdirSync('bin').filter((name) => name !== 'protime-emulator')
  expect(programs.filter((name) => !asking(`bin/${name}`))).toEqual([])
  const sources = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter(
    (name) => name.endsWith('.ts') && !/\bv8\.ts$|transport\.test\.ts$/.test(name),
  )
  expect(sources.filter((name) => asking(`src/${name}`))).toEqual([])
})
