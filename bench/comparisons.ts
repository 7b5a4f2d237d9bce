import { once } from 'node:events'
import { Agent as HttpAgent, get as httpGet } from 'node:http'
import { Agent, request } from 'undici'
import { afterRequestSent } from '../src/http/transport.ts'

/**
 * The programs that the connector is compared with. The first argument says which one:
 *
 * `conventional FIRST` is the usual way, done well: each page is parsed, each record becomes a message object that is
 * stringified, lines are written in batches, and the next page is requested before this one is processed. FIRST is the
 * address of the first page.
 *
 * `http FIRST PAGES BYTES` and `dispatch FIRST PAGES BYTES` are floors, which no connector can go below: they download
 * every page, request the next one early, and write as many bytes as the connector does, without looking at them. `http`
 * downloads with node:http, `dispatch` with the lowest level of undici, which the connector uses. PAGES is the number of
 * pages, BYTES the number of bytes to write for each.
 *
 * `lists CONFIG AT_ONCE PATH...` downloads lists to their ends, several at once: what the service can serve. CONFIG is a
 * configuration of the connector, AT_ONCE how many lists are downloaded at the same time.
 */
const [program = '', ...words] = process.argv.slice(2)
const dispatcher = new Agent()
const programs: Readonly<Record<string, () => Promise<void>>> = {
  conventional: () => readConventionally(words),
  http: () => downloadPages(false, words),
  dispatch: () => downloadPages(true, words),
  lists: () => downloadLists(words),
}
await programs[program]?.()
await dispatcher.close()

interface Page {
  readonly value: readonly Record<string, unknown>[]
  readonly nextLink?: string
}

async function readConventionally([first]: readonly string[]): Promise<void> {
  const origin = new URL(first ?? '').origin
  let link = first
  let early: Promise<string> | undefined
  while (link !== undefined) {
    const page = JSON.parse(await (early ?? text(link))) as Page
    link = page.nextLink === undefined ? undefined : origin + page.nextLink
    if (link !== undefined) {
      early = text(link)
      await afterRequestSent()
    }
    await writeMessages(page)
  }
}

async function text(url: string): Promise<string> {
  const { body } = await request(url, { dispatcher })
  return body.text()
}

async function writeMessages({ value }: Page): Promise<void> {
  const batchLength = 128 * 1024
  const emitted_at = Date.now()
  let lines = ''
  for (const record of value) {
    const data = { ...record, _ab_cdc_deleted_at: null, _generation: 1, _ab_cdc_cursor: 1 }
    lines += `${JSON.stringify({ type: 'RECORD', record: { stream: 'clockings', emitted_at, data } })}\n`
    if (lines.length < batchLength) continue
    await write(lines)
    lines = ''
  }
  await write(lines)
}

async function write(output: string | Buffer): Promise<void> {
  if (!process.stdout.write(output)) await once(process.stdout, 'drain')
}

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
    await write(output)
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
