import { afterAll } from 'vitest'
import { type Emulator, startEmulator } from './emulator.ts'
import type { EmulatorOptions } from './options.ts'

/**
 * The properties of records and items that tests read, for all collections; an item has only those of its own.
 */
export interface Item {
  readonly id: number
  readonly changeVersion: string
  readonly changeType: string
  readonly data: Item
  readonly person: Item
  readonly terminal?: Item
  readonly name: { readonly translations: Readonly<Record<string, string>> }
  readonly badgeNumber: string
  readonly firstName: string
  readonly externalReferences: Readonly<Record<string, string>>
  readonly externalReference: string
  readonly internalReference: string
}

/** The properties of bodies that tests read; a body has only those of its own. */
interface Body extends Pick<Item, 'id' | 'name'> {
  readonly value: readonly Item[]
  readonly nextLink: string
  readonly deltaLink: string
  readonly access_token: string
  readonly scope: string
  readonly error: { readonly code: string; readonly reasons: readonly string[] }
  readonly validationErrors: readonly { readonly property: string }[]
}

/** An answer; a body that is not JSON is a text. */
export interface Reply {
  readonly status: number
  readonly headers: Headers
  readonly body: Body
}

/**
 * Sends requests to an emulator like an ordinary client: with a token, and to links exactly as they were given.
 */
export interface TestClient {
  readonly token: string
  /** A path below the API's prefix, or a link. */
  get(path: string, init?: RequestInit): Promise<Reply>
  /** Sends a body as JSON, a text as it is, by another method. */
  send(
    method: string,
    path: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Reply>
  /**
   * Follows next links to the end: all items of `value`, and the delta link at the end if there is
   * one.
   */
  walk(path: string): Promise<{ items: Item[]; deltaLink?: string; pages: number }>
}

/** Asks the token service, in the form of the specification. */
export async function askToken(
  emulator: Emulator,
  form: Record<string, string> = {},
): Promise<Reply> {
  const { client_id, client_secret } = emulator.config() as Record<string, string>
  const body = new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: client_id ?? '',
    client_secret: client_secret ?? '',
    ...form,
  })
  return reply(
    await fetch(`${emulator.url}/tenants/${emulator.options.tenant}/connect/token`, {
      method: 'POST',
      body,
    }),
  )
}

/** A client with a fresh token. */
export async function connect(emulator: Emulator, scope?: string): Promise<TestClient> {
  const granted = await askToken(emulator, scope === undefined ? {} : { scope })
  const token = granted.body.access_token
  const prefix = `/connector/${emulator.options.apiName}/api/v1`
  const headers = { authorization: `Bearer ${token}`, 'user-agent': 'Tests/1 (Acme)' }
  const get = async (path: string, init: RequestInit = {}) => {
    const target = path.startsWith('http') ? path : path.startsWith(prefix) ? path : prefix + path
    return reply(await fetch(new URL(target, emulator.url), { headers, ...init }))
  }
  return {
    token,
    get,
    send: (method, path, body, more = {}) =>
      get(path, {
        method,
        headers: { ...headers, 'content-type': 'application/json', ...more },
        ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      }),
    async walk(path) {
      const items: Item[] = []
      let pages = 0
      for (let link: string | undefined = path; ; ) {
        const { status, body }: Reply = await get(link)
        if (status !== 200) throw new Error(`${status}: ${JSON.stringify(body)}`)
        items.push(...body.value)
        pages += 1
        link = body.nextLink ?? undefined
        if (link === undefined) return { items, deltaLink: body.deltaLink, pages }
      }
    },
  }
}

/**
 * Starts one emulator for each set of options, with a client of it. The tests of a file that ask for the same options
 * share it, so none may depend on what it holds after another one.
 */
export function shareEmulators() {
  const running = new Map<string, Promise<{ emulator: Emulator; client: TestClient }>>()
  afterAll(async () => {
    for (const one of running.values()) await (await one).emulator.close()
  })
  const start = async (options: EmulatorOptions) => {
    const emulator = await startEmulator(options)
    return { emulator, client: await connect(emulator) }
  }
  return (options: EmulatorOptions) => {
    const key = JSON.stringify(options)
    const known = running.get(key) ?? start(options)
    running.set(key, known)
    return known
  }
}

async function reply(response: Response): Promise<Reply> {
  const text = await response.text()
  const json = response.headers.get('content-type')?.includes('json')
  return {
    status: response.status,
    headers: response.headers,
    body: json && text !== '' ? JSON.parse(text) : text,
  }
}
