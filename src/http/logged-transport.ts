import type { Transport } from './transport.ts'

/**
 * A transport that tells each exchange: its method, its address without the query, which may hold a
 * token, or what is shown in its place, its status and its milliseconds until the headers.
 */
export function loggedTransport(transport: Transport, tell: (line: string) => void): Transport {
  return {
    close: () => transport.close(),
    async send(call) {
      const address = call.shown ?? call.url.split('?', 1)[0]
      const startedAt = performance.now()
      const told = (outcome: string | number) =>
        tell(
          `${call.method} ${address}: ${outcome}, ${Math.round(performance.now() - startedAt)} ms`,
        )
      try {
        const reply = await transport.send(call)
        told(reply.status)
        return reply
      } catch (error) {
        told(error instanceof Error ? error.message : String(error))
        throw error
      }
    },
  }
}
