import { referencedCollections } from '../../src/streams/collections.ts'

/** A record as the service sends it, by its members. */
export type ServiceRecord = Readonly<Record<string, unknown>>

interface Config {
  readonly environment: {
    readonly base_url: string
    readonly auth_url: string
    readonly api_name: string
  }
  readonly client_id: string
  readonly client_secret: string
}

interface ReferencePage {
  readonly value: readonly Readonly<Record<string, string>>[]
  readonly nextLink?: string
}

/**
 * Asks the service for all custom references, as records of the stream external_references: the
 * emulator's control endpoint does not list them.
 */
export async function allReferences(given: ServiceRecord): Promise<ServiceRecord[]> {
  const config = given as unknown as Config
  const { base_url, api_name } = config.environment
  const headers = { authorization: await takeToken(config), 'user-agent': 'demo' }
  const references: ServiceRecord[] = []
  for (const collection of referencedCollections) {
    let link: string | undefined = `/connector/${api_name}/api/v1/external-references/${collection}`
    while (link !== undefined) {
      const response: Response = await fetch(new URL(link, base_url), { headers })
      if (!response.ok)
        throw new Error(`The references of ${collection} are refused: ${await response.text()}`)
      const page = (await response.json()) as ReferencePage
      references.push(...page.value.map((item) => referenceOf(collection, item)))
      link = page.nextLink
    }
  }
  return references
}

/** What the path of a custom reference names. */
interface Reference {
  readonly collection: string
  readonly name: string
  readonly value: string
}

/** Writes references through the service, with credentials that may do so. */
export interface ReferenceWriter {
  /** Links the value to the record with this id. */
  put(reference: Reference, id: number): Promise<void>
  remove(reference: Reference): Promise<void>
}

/** A writer of the client that this configuration names. */
export function createReferenceWriter(given: ServiceRecord): ReferenceWriter {
  const config = given as unknown as Config
  const { base_url, api_name } = config.environment
  const send = async (method: string, { collection, name, value }: Reference, body?: object) => {
    const path = [collection, name, value].map(encodeURIComponent).join('/')
    const response = await fetch(
      new URL(`/connector/${api_name}/api/v1/external-references/${path}`, base_url),
      {
        method,
        headers: { authorization: await takeToken(config), 'user-agent': 'demo' },
        ...(body && { body: JSON.stringify(body) }),
      },
    )
    if (!response.ok) throw new Error(`${method} ${path} is refused: ${await response.text()}`)
  }
  return {
    put: (reference, id) => send('PUT', reference, { internalReference: String(id) }),
    remove: (reference) => send('DELETE', reference),
  }
}

function referenceOf(collection: string, item: Readonly<Record<string, string>>): ServiceRecord {
  const { referenceName: name, externalReference: value, internalReference } = item
  return { collection, name, value, internalReference }
}

async function takeToken({ environment, client_id, client_secret }: Config): Promise<string> {
  const form = { grant_type: 'client_credentials', client_id, client_secret }
  const response = await fetch(`${environment.auth_url}/connect/token`, {
    method: 'POST',
    headers: { 'user-agent': 'demo' },
    body: new URLSearchParams(form),
  })
  if (!response.ok) throw new Error(`No token for the references: ${await response.text()}`)
  const { access_token } = (await response.json()) as { access_token: string }
  return `Bearer ${access_token}`
}
