import { Agent, request } from 'undici'

/**
 * Downloads lists to their ends, several at once, and looks at nothing but the next links: what a
 * service can serve. Arguments: a configuration of the connector, how many lists at once, and the
 * paths of the lists.
 */
const [text = '{}', atOnce = '1', ...paths] = process.argv.slice(2)
const { environment, client_id, client_secret } = JSON.parse(text)
const dispatcher = new Agent()
const headers = { authorization: `Bearer ${await token()}`, 'user-agent': 'download' }

const waiting = paths.map((path) => new URL(path, environment.base_url).href)
await Promise.all(Array.from({ length: Number(atOnce) }, downloadWaiting))
await dispatcher.close()

async function downloadWaiting(): Promise<void> {
  for (let link = waiting.shift(); link !== undefined; link = waiting.shift()) await download(link)
}

async function download(first: string): Promise<void> {
  for (let link: string | undefined = first; link !== undefined; ) {
    const { body, statusCode } = await request(link, { dispatcher, headers })
    let end = ''
    for await (const part of body) end = (end + (part as Buffer).toString('latin1')).slice(-4096)
    if (statusCode !== 200) throw new Error(`${link}: ${statusCode} ${end}`)
    const [, next] = /"nextLink":"([^"]+)"/.exec(end.slice(end.lastIndexOf(']'))) ?? []
    link = next && new URL(next, environment.base_url).href
  }
}

async function token(): Promise<string> {
  const body = new URLSearchParams({ grant_type: 'client_credentials', client_id, client_secret })
  const answer = await fetch(`${environment.auth_url}/connect/token`, { method: 'POST', body })
  return ((await answer.json()) as { access_token: string }).access_token
}
