import { type ClientRequest, Agent as HttpAgent, request as httpRequest } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import type { Address } from './destination.ts'

/** One POST to a receiver. */
export interface EventPost {
  readonly address: Address
  readonly body: Buffer
  /** The header of the signature, if there is one. */
  readonly authorization: string | undefined
  /** Real milliseconds until the answer must be there. */
  readonly timeoutMs: number
}

/** The answer of a receiver, or why there is none. */
export type PostResult = { readonly status: number } | { readonly error: string }

/** Sends events; connections are kept open between them. */
export interface EventSender {
  /** Never rejects. Redirects are not followed. */
  post(event: EventPost): Promise<PostResult>
  close(): void
}

/** Starts without connections. */
export function createEventSender(): EventSender {
  const http = new HttpAgent({ keepAlive: true })
  const https = new HttpsAgent({ keepAlive: true })
  const open = new Set<ClientRequest>()

  const post = (event: EventPost): Promise<PostResult> =>
    new Promise((resolve) => {
      const { address, body, authorization, timeoutMs } = event
      const isHttps = address.url.protocol === 'https:'
      const options = {
        method: 'POST',
        agent: isHttps ? https : http,
        headers: {
          host: address.host,
          'content-type': 'application/json; charset=utf-8',
          'content-length': body.length,
          ...(authorization !== undefined && { authorization }),
        },
      }
      const request = isHttps
        ? httpsRequest(address.url, options)
        : httpRequest(address.url, options)
      const timeout = new Error(`no answer within ${timeoutMs} ms`)
      const timer = setTimeout(() => request.destroy(timeout), timeoutMs)
      const end = (result: PostResult | Promise<PostResult>) => {
        clearTimeout(timer)
        open.delete(request)
        resolve(result)
      }
      let isAnswered = false
      open.add(request)
      request.on('response', (response) => {
        isAnswered = true
        const { statusCode: status = 0 } = response
        response.on('error', (error) => end({ error: error.message }))
        response.on('end', () => end({ status })).resume()
      })
      request.on('error', (error: NodeJS.ErrnoException) => {
        // The receiver had closed the idle connection when the request was written to it.
        const isStale = request.reusedSocket && !isAnswered && error.code === 'ECONNRESET'
        end(isStale ? post(event) : { error: error.message })
      })
      request.end(body)
    })

  return {
    post,
    close() {
      http.destroy()
      https.destroy()
      for (const request of open) request.destroy(new Error('the emulator was closed'))
    },
  }
}
