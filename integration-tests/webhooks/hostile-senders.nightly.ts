import { readFileSync } from 'node:fs'
import { expect, it, onTestFinished } from 'vitest'
import {
  openRaw,
  type RawConnection,
  sign,
} from '../../src/webhooks/receive/testing/start-receiver.ts'
import { PUBLIC_URL, type ServerProcess, startScene, until } from './scene.ts'

const PATH = '/hooks/people/4fd9a1b2c3d4e5f60718293a4b5c6d7e'
const KEY = 'the key of the webhook'
const MEBIBYTE = 1_048_576

/** A server of one webhook, whose address somebody knows who does not know its key. */
async function start(): Promise<ServerProcess> {
  const scene = await startScene()
  const hook = { collection: 'people', destinationUrl: `${PUBLIC_URL}${PATH}`, key: KEY }
  scene.write('webhooks.json', { version: 1, webhooks: [hook] })
  return scene.serveApart({ '--keys-only': true, '--public-url': undefined })
}

async function connections(server: ServerProcess, count: number): Promise<RawConnection[]> {
  const { port } = new URL(server.url)
  const open = await Promise.all(Array.from({ length: count }, () => openRaw(Number(port))))
  onTestFinished(() => {
    for (const connection of open) connection.end()
  })
  return open
}

async function deliver(server: ServerProcess): Promise<number> {
  const headers = { authorization: sign('{}', KEY), connection: 'close' }
  const response = await fetch(`${server.url}${PATH}`, { method: 'POST', headers, body: '{}' })
  return response.status
}

/** The most memory that a process has had, in megabytes. */
function peakMegabytes(pid: number | undefined): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) / 1024
}

it('600 bodies of 1 MiB that nobody has rightly signed take less than 128 MB', async () => {
  const server = await start()
  const body = Buffer.alloc(MEBIBYTE - 1, ' ')
  const senders = await connections(server, 600)
  await Promise.all(
    senders.map((connection, i) => {
      const signature = i % 2 === 0 ? '' : `Authorization: ${sign('{}', 'another key')}\r\n`
      connection.write(
        `POST ${PATH} HTTP/1.1\r\nHost: hooks\r\n${signature}Content-Length: ${MEBIBYTE}\r\n\r\n`,
      )
      return connection.sent(body)
    }),
  )
  expect(await deliver(server)).toBe(200)
  expect(peakMegabytes(server.child.pid)).toBeLessThan(128)
})

it('2,000 connections that say nothing shut no delivery out for a second', async () => {
  const server = await start()
  await connections(server, 2100)
  const since = performance.now()
  await until(async () => (await deliver(server).catch(() => 0)) === 200)
  expect(performance.now() - since).toBeLessThan(1000)
})
