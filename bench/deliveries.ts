import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { deliveryPath } from '../src/webhooks/delivery-path.ts'
import { sign } from '../src/webhooks/testing/sign.ts'
import { clocking } from './clocking.ts'

/** Where deliveries go. */
export interface Destination {
  readonly port: number
  readonly collection: string
  /** The last segment of the path. */
  readonly nonce: string
  readonly key: string
}

/** What became of deliveries: how many got which answer, and how long each took. */
export interface Answers {
  readonly counts: ReadonlyMap<number | string, number>
  /** In milliseconds, from the moment at which the delivery was due, sorted. */
  readonly times: readonly number[]
}

const BODIES = 1000

/** Sends so many signed records per second, whether or not the ones before are answered. */
export async function deliver(
  to: Destination,
  perSecond: number,
  seconds: number,
): Promise<Answers> {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 })
  const signed = Array.from({ length: BODIES }, (_, i) => {
    const body = Buffer.from(clocking(i))
    return { body, authorization: sign(body, to.key) }
  })
  const path = deliveryPath(to)
  const counts = new Map<number | string, number>()
  const times: number[] = []
  const sent: Promise<void>[] = []
  const start = performance.now()
  for (let number = 0; number < perSecond * seconds; number++) {
    const due = start + (number * 1000) / perSecond
    if (due > performance.now()) await sleep(due - performance.now())
    const { body, authorization } = signed[number % BODIES] ?? { body: '', authorization: '' }
    sent.push(
      post(body, { authorization, 'content-length': body.length }).then((answer) => {
        times.push(performance.now() - due)
        counts.set(answer, (counts.get(answer) ?? 0) + 1)
      }),
    )
  }
  await Promise.all(sent)
  agent.destroy()
  return { counts, times: times.toSorted((a, b) => a - b) }

  function post(body: Buffer | string, headers: Record<string, string | number>) {
    return new Promise<number | string>((resolve) => {
      request({ port: to.port, host: '127.0.0.1', path, method: 'POST', agent, headers })
        .on('response', (response) => {
          response.resume().on('end', () => resolve(response.statusCode ?? 0))
        })
        .on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.name))
        .end(body)
    })
  }
}

/**
 * Keeps so many connections open that send a byte each second: of their headers, or of a body that does
 * not end. Those that the server closes are opened again, until the returned function is called.
 */
export function dribble(to: Destination, { headers, bodies }: { headers: number; bodies: number }) {
  const path = deliveryPath(to)
  const head = `POST ${path} HTTP/1.1\r\nHost: hooks\r\nContent-Length: 1000\r\n`
  const sockets = new Set<Socket>()
  let isOver = false
  const all = [
    ...Array.from({ length: headers }, () => keep(head)),
    ...Array.from({ length: bodies }, () => keep(`${head}\r\n`)),
  ]
  return async () => {
    isOver = true
    for (const socket of sockets) socket.destroy()
    await Promise.all(all)
  }

  async function keep(begin: string): Promise<void> {
    while (!isOver) {
      const socket = connect(to.port, '127.0.0.1').on('error', () => {})
      sockets.add(socket)
      socket.write(begin)
      const timer = setInterval(() => socket.write('x'), 1000)
      await once(socket.resume(), 'close')
      sockets.delete(socket)
      clearInterval(timer)
    }
  }
}
