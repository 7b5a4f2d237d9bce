import type { Emulator } from './emulator.ts'

/** An answer with its JSON body, if it has one. */
export interface Reply {
  readonly status: number
  readonly headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of any shape
  readonly body: any
}

/** Sends requests to an emulator as an ordinary client would: with a token, and to links as they were given. */
export interface TestClient {
  readonly token: string
  /** A path below the API's prefix, or a link. */
  get(path: string, init?: RequestInit): Promise<Reply>
  /** Follows next links to the end: all items of `value`, and the delta link at the end if there is one. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into records of any shape
  walk(path: string): Promise<{ items: any[]; deltaLink?: string; pages: number }>
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
  return reply(await fetch(`${emulator.url}/tenants/demo/connect/token`, { method: 'POST', body }))
}

/** A client with a fresh token. */
export async function connect(emulator: Emulator, scope?: string): Promise<TestClient> {
  const granted = await askToken(emulator, scope === undefined ? {} : { scope })
  const token = granted.body.access_token
  const prefix = `/connector/${emulator.options.apiName}/api/v1`
  const get = async (path: string, init: RequestInit = {}) => {
    const target = path.startsWith('http') ? path : path.startsWith(prefix) ? path : prefix + path
    const headers = { authorization: `Bearer ${token}`, 'user-agent': 'Tests/1 (Acme)' }
    return reply(await fetch(new URL(target, emulator.url), { headers, ...init }))
  }
  return {
    token,
    get,
    async walk(path) {
      const items = []
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

async function reply(response: Response): Promise<Reply> {
  const text = await response.text()
  const json = response.headers.get('content-type')?.includes('json')
  return {
    status: response.status,
    headers: response.headers,
    body: json ? JSON.parse(text) : text,
  }
}
