import { once } from 'node:events'
import { Agent as HttpAgent, get as httpGet } from 'node:http'
import { Agent, request } from 'undici'
import { afterRequestSent } from '../src/http/transport.ts'

/**
 * What no connector can beat: downloads, and looks at nothing but the links that it must follow.
 *
 * `floor.js http|dispatch FIRST PAGES BYTES` downloads every page, the next one requested early, and writes as many
 * bytes as the connector does. Arguments: what it downloads with (`http` for node:http, `dispatch` for undici's
 * lowest level, which the connector uses too), the address of the first page, how many pages there are, and how many
 * bytes to write for each.
 *
 * `floor.js lists CONFIG AT_ONCE PATH...` downloads lists to their ends, several at once: what a service can serve.
 * Arguments: a configuration of the connector, how many lists at once, and the paths of the lists.
 */
const [via, ...words] = process.argv.slice(2)
const dispatcher = new Agent()
if (via === 'lists') await downloadLists(words)
else await downloadPages(via === 'dispatch', words)
await dispatcher.close()

async function downloadPages(
  isDispatched: boolean,
  [first = '', pages = '1', bytes = '0']: readonly string[],
): Promise<void> {
  const output = Buffer.alloc(Number(bytes), 'x')
  const count = Number(pages)
  const agent = new HttpAgent({ keepAlive: true })
  const addressOf = (page: number) => `${first}?continuationToken=${page}`
  const download = (page: number) =>
    isDispatched ? byDispatch(addressOf(page)) : byHttp(addressOf(page), agent)
  let early = download(0)
  for (let page = 0; page < count; page++) {
    await early
    if (page + 1 < count) {
      early = download(page + 1)
      await afterRequestSent()
    }
    if (!process.stdout.write(output)) await once(process.stdout, 'drain')
  }
  agent.destroy()
}

function byHttp(address: string, agent: HttpAgent): Promise<number> {
  return new Promise((resolve, reject) => {
    const request = httpGet(address, { agent }, (response) => {
      let size = 0
      response.on('data', (part: Buffer) => {
        size += part.length
      })
      response.on('end', () => resolve(size)).on('error', reject)
    })
    request.on('error', reject)
  })
}

function byDispatch(address: string): Promise<number> {
  const { origin, pathname, search } = new URL(address)
  return new Promise((resolve, reject) => {
    let size = 0
    dispatcher.dispatch(
      { origin, path: `${pathname}${search}`, method: 'GET' },
      {
        onRequestStart() {},
        onResponseStart() {},
        onResponseData(_, part) {
          size += part.length
        },
        onResponseEnd: () => resolve(size),
        onResponseError: (_, error) => reject(error),
      },
    )
  })
}

async function downloadLists([text = '{}', atOnce = '1', ...paths]: readonly string[]) {
  const { environment, client_id, client_secret } = JSON.parse(text)
  const { base_url, auth_url } = environment
  const headers = {
    authorization: `Bearer ${await token(auth_url, { client_id, client_secret })}`,
    'user-agent': 'download',
  }
  const waiting = paths.map((path) => new URL(path, base_url).href)
  const work = async () => {
    for (let link = waiting.shift(); link !== undefined; link = waiting.shift())
      await downloadList(link, base_url, headers)
  }
  await Promise.all(Array.from({ length: Number(atOnce) }, work))
}

async function downloadList(
  first: string,
  baseUrl: string,
  headers: Readonly<Record<string, string>>,
): Promise<void> {
  for (let link: string | undefined = first; link !== undefined; ) {
    const { body, statusCode } = await request(link, { dispatcher, headers })
    let end = ''
    for await (const part of body) end = (end + (part as Buffer).toString('latin1')).slice(-4096)
    if (statusCode !== 200) throw new Error(`${link}: ${statusCode} ${end}`)
    const [, next] = /"nextLink":"([^"]+)"/.exec(end.slice(end.lastIndexOf(']'))) ?? []
    link = next && new URL(next, baseUrl).href
  }
}

async function token(address: string, client: Readonly<Record<string, string>>): Promise<string> {
  const body = new URLSearchParams({ grant_type: 'client_credentials', ...client })
  const answer = await fetch(`${address}/connect/token`, { method: 'POST', body })
  return ((await answer.json()) as { access_token: string }).access_token
}
