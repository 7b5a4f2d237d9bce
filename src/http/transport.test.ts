import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, createServer as createNetServer, type Server } from 'node:net'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type Responder, reply, startHttpService } from './testing/http-service.ts'
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

async function textOf(reply: Reply): Promise<string> {
  const parts: Buffer[] = []
  for await (const part of reply.body) parts.push(part)
  return Buffer.concat(parts).toString('utf8')
}

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return (server.address() as AddressInfo).port
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
    expect(await textOf(answer)).toBe(TEXT)
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

  it('in an encoding that was not asked for is a fault of the service', async () => {
    const answer = await getFrom((_, response) =>
      reply(response, 200, TEXT, { 'content-encoding': 'zstd' }),
    )
    expect(await failureOf(textOf(answer))).toMatchObject({
      failure: 'system',
      message: expect.stringMatching(/encoding "zstd", which was not requested/),
    })
  })

  it('in an unknown encoding gives its connection back', async () => {
    const closed = { isIt: false }
    const answer = await getFrom((_, response) => {
      response.socket?.on('close', () => {
        closed.isIt = true
      })
      response.setHeader('content-encoding', 'zstd').write(TEXT)
    })
    await failureOf(textOf(answer))
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
    expect(await failureOf(textOf(answer))).toMatchObject({ failure: 'transient' })
  })

  it.each([
    ['gzip', gzipSync(randomBytes(500_000))],
    ['br', brotliCompressSync(randomBytes(500_000))],
  ])(
    'that breaks off in the middle of its %s may arrive whole the next time',
    async (encoding, bytes) => {
      const answer = await getFrom((_, response) => {
        response.setHeader('content-encoding', encoding)
        response.write(bytes.subarray(0, 250_000))
        setTimeout(() => response.destroy(), 50)
      })
      expect(await failureOf(textOf(answer))).toMatchObject({ failure: 'transient' })
    },
  )

  it('may be larger than memory allows for at once: it arrives as it is read', async () => {
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

  it('is given up when the service falls silent', async () => {
    const answer = await getFrom((_, response) => response.writeHead(200).write('half'), 0.2)
    expect(await failureOf(textOf(answer))).toMatchObject({
      failure: 'transient',
      message: expect.stringMatching(/UND_ERR_BODY_TIMEOUT/),
    })
  })

  it.each([undefined, 'gzip'])(
    'is not given up while it is our reader who is slow (%s)',
    async (encoding) => {
      const bytes = randomBytes(8 * 1024 * 1024)
      // Made before it is asked for: what takes long in this process is silence to the client.
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

  it('that nobody wants any more does no harm', async () => {
    const answer = await getFrom((_, response) => response.write('half'))
    answer.discard()
    expect(await failureOf(textOf(answer))).toMatchObject({ failure: 'transient' })
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
      await textOf(await transport.send({ url: origin, method: 'GET', headers: {}, signal }))
    }
    // undici may open a second one while it cleans up after the first answer.
    expect(ports.size).toBeLessThan(3)
  })

  it('that is refused may be taken later', async () => {
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

  it('to a host that nobody knows says where to look', async () => {
    expect(await failureOf(get('http://acme.protime.invalid'))).toMatchObject({
      failure: 'transient',
      message: expect.stringMatching(/acme\.protime\.invalid/),
    })
  })

  it('to a service that stays silent is given up', async () => {
    expect(await failureOf(getFrom(() => {}, 0.2))).toMatchObject({
      failure: 'transient',
      message: expect.stringMatching(/UND_ERR_HEADERS_TIMEOUT/),
    })
  })

  it('to something that does not speak HTTP may be something else the next time', async () => {
    const port = await listen(
      createNetServer((socket) => socket.end('220 mail.example ESMTP\r\n\r\n')),
    )
    expect(await failureOf(get(`http://127.0.0.1:${port}`))).toMatchObject({
      failure: 'transient',
      message: expect.stringMatching(/does not match the HTTP/),
    })
  })
})

describe('a connection that is never made, because nobody answers the greeting of TLS', () => {
  it('is no longer waited for when the signal is aborted, and is given up at the end', async () => {
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
