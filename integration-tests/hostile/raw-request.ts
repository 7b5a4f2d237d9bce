import type { Socket } from 'node:net'

/** A request as it came over the wire. */
export interface Asked {
  readonly method: string
  /** Path and query as sent. */
  readonly target: string
  readonly headers: ReadonlyMap<string, string>
  readonly body: string
}

const END_OF_HEAD = '\r\n\r\n'

/** The requests of a connection, one after the other, until the client closes it. */
export async function* readRequests(socket: Socket): AsyncGenerator<Asked> {
  let received = ''
  try {
    for await (const chunk of socket as AsyncIterable<Buffer>) {
      received += chunk.toString('latin1')
      for (let next = firstRequest(received); next !== undefined; next = firstRequest(received)) {
        received = received.slice(next.length)
        yield next.asked
      }
    }
  } catch {
    // A connection that broke brings no more requests.
  }
}

function firstRequest(text: string): { asked: Asked; length: number } | undefined {
  const end = text.indexOf(END_OF_HEAD)
  if (end < 0) return undefined
  const [first = '', ...lines] = text.slice(0, end).split('\r\n')
  const [method = '', target = ''] = first.split(' ')
  const headers = new Map(
    lines.map((line): [string, string] => {
      const at = line.indexOf(':')
      return [line.slice(0, at).toLowerCase(), line.slice(at + 1).trim()]
    }),
  )
  const start = end + END_OF_HEAD.length
  const length = start + Number(headers.get('content-length') ?? 0)
  if (text.length < length) return undefined
  return { asked: { method, target, headers, body: text.slice(start, length) }, length }
}
