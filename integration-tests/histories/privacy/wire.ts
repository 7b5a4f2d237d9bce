import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Names of the protocol, which the service writes as they are documented. */
const OF_PAGES = new Set(['value', 'data', 'changeType', 'nextLink', 'deltaLink', 'error'])

/**
 * A service in front of another one that writes the same JSON otherwise: every so many-th name has an escaped letter and
 * blanks behind it. 0 leaves all as it is.
 */
export async function startWriter(
  service: string,
  every: number,
): Promise<{ readonly url: string; close(): Promise<void> }> {
  let names = 0
  let url = ''
  const server = createServer(async (request, response) => {
    const { authorization = '' } = request.headers
    const answer = await fetch(`${service}${request.url}`, { headers: { authorization } })
    const text = (await answer.text()).replaceAll(service, url)
    response.writeHead(answer.status, { 'content-type': 'application/json' })
    response.end(every === 0 ? text : otherwise(text))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  }

  function otherwise(text: string): string {
    return text.replace(/"((?:[^"\\]|\\.)*)"(:?)/g, (whole, name: string, colon: string) => {
      const isName = colon !== '' && /^[a-zA-Z@]/.test(name) && !OF_PAGES.has(name)
      if (!isName || ++names % every !== 0) return whole
      const at = names % name.length
      const letter = name.charCodeAt(at)
      if (letter > 126 || letter === 92 || name[at - 1] === '\\') return whole
      const escaped = `\\u${letter.toString(16).padStart(4, '0')}`
      return `"${name.slice(0, at)}${escaped}${name.slice(at + 1)}" : `
    })
  }
}
