import { type Emulator, startEmulator } from '../../emulator/emulator.ts'
import { streams } from '../../src/streams/streams.ts'

/** A row as the service shows it. */
export type Row = Readonly<Record<string, unknown>>

/** A tenant with records in every stream. */
export interface Tenant {
  readonly emulator: Emulator
  readonly config: Row
  readonly streams: readonly string[]
  /** What a warehouse should hold of a stream now. */
  truth(stream: string): Promise<readonly Row[]>
}

/** Starts it on a free port; `emulator.close` ends it. */
export async function startTenant(): Promise<Tenant> {
  const emulator = await startEmulator({ people: 8, months: 2, pageSize: 50 })
  return {
    emulator,
    config: { ...emulator.config(), activity_structures: emulator.activityStructures },
    streams: [...streams.keys()],
    async truth(name) {
      const stream = streams.get(name)
      if (stream === undefined) throw new Error(`there is no stream ${name}`)
      return stream.nested === 'referenced_collections'
        ? references(emulator)
        : emulator.all(stream.collection)
    },
  }
}

/** All custom references, asked of the service as anybody would: the emulator keeps no other list. */
async function references({ url, options }: Emulator): Promise<Row[]> {
  const [client] = options.clients
  const credentials = { client_id: client?.id ?? '', client_secret: client?.secret ?? '' }
  const answer = await fetch(`${url}/tenants/demo/connect/token`, {
    method: 'POST',
    body: new URLSearchParams({ grant_type: 'client_credentials', ...credentials }),
  })
  const { access_token: token } = (await answer.json()) as { access_token: string }
  const rows: Row[] = []
  const collections = new Set([...streams.values()].map(({ collection }) => collection))
  for (const collection of [...collections, 'terminals']) {
    let link = `/connector/${options.apiName}/api/v1/external-references/${collection}`
    while (link !== '') {
      const page = await fetch(new URL(link, url), {
        headers: { authorization: `Bearer ${token}` },
      })
      // Collections that take no references say so.
      if (page.status === 400) break
      const { value, nextLink } = (await page.json()) as { value: Row[]; nextLink?: string }
      rows.push(...value.map((row) => ({ collection, ...referenceOf(row) })))
      link = nextLink ?? ''
    }
  }
  return rows
}

function referenceOf({ referenceName, externalReference, internalReference }: Row): Row {
  return { name: referenceName, value: externalReference, internalReference }
}
