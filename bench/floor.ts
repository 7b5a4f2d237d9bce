import { once } from 'node:events'
import { Agent as HttpAgent, get as httpGet } from 'node:http'
import { Agent } from 'undici'
import { afterRequestSent } from '../src/http/transport.ts'

/**
 * What no connector can beat: downloads every page, the next one requested early, and writes as many
 * bytes as the connector does, looking at nothing. Arguments: what it downloads with (`http` for node:http,
 * `dispatch` for undici's lowest level, which the connector uses too), the address of the first page, how
 * many pages there are, and how many bytes to write for each.
 */
const [via, first = '', pages = '1', bytes = '0'] = process.argv.slice(2)
const output = Buffer.alloc(Number(bytes), 'x')
const count = Number(pages)
const { origin, pathname } = new URL(first)
const dispatcher = new Agent()
const agent = new HttpAgent({ keepAlive: true })
const download = via === 'dispatch' ? byDispatch : byHttp

let early = download(0)
for (let page = 0; page < count; page++) {
  await early
  if (page + 1 < count) {
    early = download(page + 1)
    await afterRequestSent()
  }
  if (!process.stdout.write(output)) await once(process.stdout, 'drain')
}
await dispatcher.close()
agent.destroy()

function byHttp(page: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const request = httpGet(`${first}?continuationToken=${page}`, { agent }, (response) => {
      let size = 0
      response.on('data', (part: Buffer) => {
        size += part.length
      })
      response.on('end', () => resolve(size)).on('error', reject)
    })
    request.on('error', reject)
  })
}

function byDispatch(page: number): Promise<number> {
  const path = `${pathname}?continuationToken=${page}`
  return new Promise((resolve, reject) => {
    let size = 0
    dispatcher.dispatch(
      { origin, path, method: 'GET' },
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
