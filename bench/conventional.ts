import { once } from 'node:events'
import { Agent, request } from 'undici'
import { afterRequestSent } from '../src/http/transport.ts'

/**
 * The usual way, done well: each page is parsed, each record becomes a message object that is
 * stringified, lines leave in batches, and the next page is requested before the present one is
 * worked on. Argument: the address of the first page.
 */
const BATCH = 128 * 1024
const dispatcher = new Agent()
let [link] = process.argv.slice(2) as [string | undefined]
const origin = new URL(link ?? '').origin

interface Page {
  readonly value: readonly Record<string, unknown>[]
  readonly nextLink?: string
}

let early: Promise<string> | undefined
while (link !== undefined) {
  const page = JSON.parse(await (early ?? get(link))) as Page
  link = page.nextLink === undefined ? undefined : origin + page.nextLink
  if (link !== undefined) {
    early = get(link)
    await afterRequestSent()
  }
  await write(page)
}
await dispatcher.close()

async function get(url: string): Promise<string> {
  const { body } = await request(url, { dispatcher })
  return body.text()
}

async function write({ value }: Page): Promise<void> {
  const emitted_at = Date.now()
  let lines = ''
  for (const record of value) {
    const data = { ...record, _ab_cdc_deleted_at: null, _generation: 1, _ab_cdc_cursor: 1 }
    lines += `${JSON.stringify({ type: 'RECORD', record: { stream: 'clockings', emitted_at, data } })}\n`
    if (lines.length < BATCH) continue
    await put(lines)
    lines = ''
  }
  await put(lines)
}

async function put(lines: string): Promise<void> {
  if (!process.stdout.write(lines)) await once(process.stdout, 'drain')
}
