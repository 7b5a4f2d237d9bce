import { readFile } from 'node:fs/promises'
import { replacePrivateFile } from '../../private-file.ts'
import { ConnectorError } from '../../protocol/errors.ts'

/** The store's version, which an older program refuses. */
const VERSION = 1

/**
 * One webhook of ours. `creating`: asked for, and its key is not known yet; `live`: it has a key;
 * `retiring`: deleted at the service, whose repeated deliveries are still taken for a while.
 */
export interface StoredHook {
  readonly collection: string
  /** Ends with a nonce, which tells the receiver the webhook that a delivery belongs to. */
  readonly destinationUrl: string
  readonly state: 'creating' | 'live' | 'retiring'
  readonly id?: string
  readonly key?: string
  /** These are times of the service's clock, as ISO 8601. */
  readonly validUntil?: string
  readonly createdAt?: string
  readonly retiredAt?: string
}

/** The last segment of a webhook's path. */
export function nonceOf({ destinationUrl }: Pick<StoredHook, 'destinationUrl'>): string {
  return destinationUrl.slice(destinationUrl.lastIndexOf('/') + 1)
}

/**
 * The webhooks in a store; a file that is missing is an empty one. Throws a config error for a file
 * that cannot be read, is damaged, or was written by a later version.
 */
export async function readStore(path: string): Promise<StoredHook[]> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw unusable(path, `cannot be read (${error.code})`, 'Give this user access to it.')
  })
  return text === undefined ? [] : parse(text, path)
}

/**
 * Replaces the store in one step that survives a loss of power, readable by its owner only. Throws a
 * config error when that is not possible.
 */
export async function writeStore(path: string, hooks: readonly StoredHook[]): Promise<void> {
  const text = `${JSON.stringify({ version: VERSION, webhooks: hooks }, null, 2)}\n`
  try {
    await replacePrivateFile(path, text)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    throw unusable(
      path,
      `cannot be written (${code ?? message})`,
      'Name a file that this user may write.',
    )
  }
}

function parse(text: string, path: string): StoredHook[] {
  const { version, webhooks } = (parsed(text) ?? {}) as Record<string, unknown>
  if (version !== undefined && version !== VERSION) {
    throw unusable(
      path,
      `has version ${JSON.stringify(version)}, and this program knows version ${VERSION}`,
      'Use the program that wrote it, or name another file.',
    )
  }
  if (version === undefined || !Array.isArray(webhooks)) throw damaged(path)
  return webhooks.map((entry) => stored(entry) ?? refuse(path))
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** A hook of the file; one that somebody wrote by hand needs a collection, an address and a key. */
function stored(entry: unknown): StoredHook | undefined {
  if (typeof entry !== 'object' || entry === null) return undefined
  const { state = 'live', ...rest } = entry as Record<string, unknown>
  const texts = Object.values(rest)
  const { collection, destinationUrl, key } = rest
  if (texts.some((value) => typeof value !== 'string')) return undefined
  if (collection === undefined || !URL.canParse(String(destinationUrl))) return undefined
  if (state !== 'creating' && state !== 'live' && state !== 'retiring') return undefined
  if (state === 'live' && key === undefined) return undefined
  return { ...(rest as unknown as StoredHook), state }
}

function refuse(path: string): never {
  throw damaged(path)
}

function damaged(path: string): ConnectorError {
  return unusable(
    path,
    'is damaged',
    'Restore it; or name another file and start with --adopt, which deletes the webhooks of the lost one and creates new ones.',
  )
}

function unusable(path: string, what: string, remedy: string): ConnectorError {
  return new ConnectorError('config', `The store ${path} ${what}. ${remedy}`)
}
