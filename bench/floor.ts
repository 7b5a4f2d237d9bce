import { once } from 'node:events'
import { Agent, request } from 'undici'
import { afterRequestSent } from '../src/http/transport.ts'

/**
 * What no connector can beat: downloads every page, the next one requested early, and writes as many
 * bytes as the connector does, looking at nothing. Arguments: the address of the first page, how
 * many pages there are, and how many bytes to write for each.
 */
const [first = '', pages = '1', bytes = '0'] = process.argv.slice(2)
const dispatcher = new Agent()
const output = Buffer.alloc(Number(bytes), 'x')
const count = Number(pages)

let early = get(0)
for (let page = 0; page < count; page++) {
  await early
  if (page + 1 < count) {
    early = get(page + 1)
    await afterRequestSent()
  }
  if (!process.stdout.write(output)) await once(process.stdout, 'drain')
}
await dispatcher.close()

async function get(page: number): Promise<number> {
  const { body } = await request(`${first}?continuationToken=${page}`, { dispatcher })
  let size = 0
  for await (const part of body) size += (part as Buffer).length
  return size
}
