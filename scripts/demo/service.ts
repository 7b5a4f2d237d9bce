import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { packageFolder } from '../../src/ground/project-files.ts'
import { referencedCollections } from '../../src/streams/collections.ts'

/** A program of the package in a process of its own. */
export interface Program {
  readonly stdout: Readable
  /** What the program has written to stderr so far. */
  stderr(): string
  /** Ends with the exit code, or the name of the signal that ended the program. */
  readonly ended: Promise<number | string>
  /** Asks the program to end and waits until it has. */
  stop(): Promise<void>
}

/** Starts a file of `bin/`. The program is stopped when the signal is aborted. */
export function startProgram(name: string, args: readonly string[], signal: AbortSignal): Program {
  const file = join(packageFolder(), 'bin', name)
  const child: ChildProcessByStdio<null, Readable, Readable> = spawn(
    process.execPath,
    [file, ...args],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  )
  let complaints = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaints += text
  })
  const kill = () => void child.kill('SIGTERM')
  signal.addEventListener('abort', kill, { once: true })
  const ended = once(child, 'close').then(([code, killedBy]) => {
    signal.removeEventListener('abort', kill)
    return (code ?? killedBy) as number | string
  })
  return {
    stdout: child.stdout,
    stderr: () => complaints,
    ended,
    async stop() {
      kill()
      await ended
    },
  }
}

/** The emulated service in its own process, and its control endpoint. */
export interface Service {
  /** A configuration with which the connector reads the tenant. */
  config(): Promise<ServiceRecord>
  /** The service's time, as ISO text. */
  now(): Promise<string>
  /** All present records of a collection. */
  all(collection: string): Promise<ServiceRecord[]>
  /** Creates a second client, which may only write references, and a writer that uses it. */
  references(): Promise<ReferenceWriter>
  /** Posts a verb to the control endpoint, for example `/advance` with `{ hours: 73 }`. */
  tell(verb: string, body: object): Promise<unknown>
  /** Every request since the start. */
  requests(): Promise<readonly { readonly path: string; readonly query: string }[]>
  stop(): Promise<void>
}

const WRITER = { id: 'hr', secret: 'demo', scopes: ['external-references.write'] }

/** How large the tenant is. */
export interface TenantSize {
  readonly people: number
  readonly months: number
  readonly pageSize: number
}

/** Starts `bin/protime-emulator` on free ports and waits until the tenant is made. */
export async function startService(size: TenantSize, signal: AbortSignal): Promise<Service> {
  const flags = {
    port: 0,
    'control-port': 0,
    people: size.people,
    months: size.months,
    'page-size': size.pageSize,
  }
  const args = Object.entries(flags).flatMap(([flag, value]) => [`--${flag}`, String(value)])
  const program = startProgram('protime-emulator', args, signal)
  let introduction = ''
  let control: string | undefined
  for await (const text of program.stdout
    .setEncoding('utf8')
    .iterator({ destroyOnReturn: false })) {
    introduction += text
    control = /^Control\s+(\S+)\n/m.exec(introduction)?.[1]
    if (control !== undefined) break
  }
  signal.throwIfAborted()
  if (control === undefined) throw new Error(`The emulator did not start: ${program.stderr()}`)
  // The rest of the output is discarded, because a full pipe would block the emulator.
  program.stdout.resume()
  const ask = async (path: string, init: RequestInit = {}) => {
    const response = await fetch(`${control}${path}`, { ...init, signal })
    const body: unknown = await response.json()
    if (!response.ok) throw new Error(`The emulator refuses ${path}: ${JSON.stringify(body)}`)
    return body
  }
  const tell = (verb: string, body: object) =>
    ask(verb, { method: 'POST', body: JSON.stringify(body) })
  const config = async () => (await ask('/config')) as ServiceRecord
  return {
    config,
    now: async () => ((await ask('/now')) as { now: string }).now,
    async all(collection) {
      if (collection === 'external-references') return allReferences(await config())
      return (await ask(`/all/${collection}`)) as ServiceRecord[]
    },
    async references() {
      const { client_id, client_secret, ...rest } = await config()
      const reader = { id: client_id, secret: client_secret }
      await tell('/options', { clients: [reader, WRITER] })
      return createReferenceWriter({
        ...rest,
        client_id: WRITER.id,
        client_secret: WRITER.secret,
      })
    },
    tell,
    requests: async () => (await ask('/requests')) as { path: string; query: string }[],
    stop: program.stop,
  }
}

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

/** The parts of the path of a custom reference. */
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

/** Creates a writer that uses the credentials of this configuration. */
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
