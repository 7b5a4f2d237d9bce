import { ConnectorError } from '../../ground/errors.ts'
import { tryParseJson } from '../../ground/json.ts'
import { readOwnFile, replacePrivateFile } from '../../ground/private-file.ts'
import type { Hook, Hooks } from '../receive/delivery.ts'

/** The version of the store; an older program refuses a newer version. */
const VERSION = 1

/**
 * One of our webhooks. `creating`: requested, and its key is not known yet; `live`: it has a key; `retiring`:
 * deleted at the service, but its repeated deliveries are still accepted for a while.
 */
export interface StoredHook extends Hook {
  /** Ends with a nonce, by which the receiver finds the webhook of a delivery. */
  readonly destinationUrl: string
  readonly id?: string
  /** Times of the service's clock, as ISO 8601. */
  readonly createdAt?: string
  readonly retiredAt?: string
  /** When the service answered its deletion, which is not requested again. */
  readonly deletedAt?: string
  /** How many webhooks before it in a row have stayed uninitialized. */
  readonly tries?: number
  /** For a requested webhook: how many creations before it in a row have failed. */
  readonly failures?: number
}

/** The tenant whose webhooks a store has: with another one, their keys would be retired. */
export interface StoreOwner {
  readonly tenant: string
  readonly baseUrl: string
}

/** The content of a store; one of an earlier version does not name its owner. */
interface StoreContent {
  readonly hooks: readonly StoredHook[]
  readonly owner?: StoreOwner
}

/** The last segment of a webhook's path. */
export function nonceOf({ destinationUrl }: Pick<StoredHook, 'destinationUrl'>): string {
  return destinationUrl.slice(destinationUrl.lastIndexOf('/') + 1)
}

/**
 * The webhooks in a store; a missing file counts as empty. Throws a config error for a file that cannot be
 * read, is damaged, or was written by a later version.
 */
export async function readStore(path: string): Promise<StoreContent> {
  const text = readText(path)
  return text === undefined ? { hooks: [] } : parse(text, path)
}

function readText(path: string): string | undefined {
  try {
    return readOwnFile(path)
  } catch (error) {
    if (error instanceof ConnectorError) throw error
    const { code } = error as NodeJS.ErrnoException
    throw unusable(path, `cannot be read (${code})`, 'Give this user access to it.')
  }
}

/**
 * Replaces the store in one step that survives a power failure; only its owner can read it. Throws a config
 * error if that is not possible.
 */
export async function writeStore(path: string, { hooks, owner }: StoreContent): Promise<void> {
  const text = `${JSON.stringify({ version: VERSION, ...owner, webhooks: hooks }, null, 2)}\n`
  try {
    await replacePrivateFile(path, text)
  } catch (error) {
    if (error instanceof ConnectorError) throw error
    const { code, message } = error as NodeJS.ErrnoException
    throw unusable(
      path,
      `cannot be written (${code ?? message})`,
      'Name a file that this user may write.',
    )
  }
}

function parse(text: string, path: string): StoreContent {
  const { version, webhooks, tenant, baseUrl } = Object(tryParseJson(text)) as Record<
    string,
    unknown
  >
  if (version !== undefined && version !== VERSION) {
    throw unusable(
      path,
      `has version ${JSON.stringify(version)}, and this program knows version ${VERSION}`,
      'Use the program that wrote it, or name another file.',
    )
  }
  if (version === undefined || !Array.isArray(webhooks)) throw damaged(path)
  const isOwned = typeof tenant === 'string' && typeof baseUrl === 'string'
  const hooks = webhooks.flatMap((entry) => stored(entry) ?? [])
  if (hooks.length < webhooks.length) throw damaged(path)
  // Of two entries for one address, the one that is retired would delete the webhook of the other.
  if (new Set(hooks.map(nonceOf)).size < hooks.length) throw damaged(path)
  return {
    hooks,
    ...(isOwned && { owner: { tenant, baseUrl } }),
  }
}

/**
 * A webhook of the file; one that somebody wrote by hand needs a collection, an address and a key.
 */
function stored(entry: unknown): StoredHook | undefined {
  if (typeof entry !== 'object' || entry === null) return undefined
  const { state = 'live', tries, failures, ...rest } = entry as Record<string, unknown>
  const texts = Object.values(rest)
  const { collection, destinationUrl, key } = rest
  if (texts.some((value) => typeof value !== 'string')) return undefined
  if (collection === undefined || !URL.canParse(String(destinationUrl))) return undefined
  if (state !== 'creating' && state !== 'live' && state !== 'retiring') return undefined
  // Everybody can sign with an empty key.
  if (key === '' || (state === 'live' && key === undefined)) return undefined
  const known = rest as unknown as StoredHook
  return {
    ...known,
    state,
    ...(typeof tries === 'number' && { tries }),
    ...(typeof failures === 'number' && { failures }),
  }
}

function damaged(path: string): ConnectorError {
  return unusable(
    path,
    'is damaged',
    'Restore it; or name another file and start with --adopt, which deletes the webhooks of the lost one and creates new ones.',
  )
}

function unusable(path: string, what: string, remedy: string): ConnectorError {
  return new ConnectorError('config', 'store-not-usable', `The store ${path} ${what}. ${remedy}`)
}

function refuseOther(found: StoreOwner | undefined, owner: StoreOwner, path: string): void {
  if (found === undefined) return
  if (found.tenant === owner.tenant && found.baseUrl === owner.baseUrl) return
  throw new ConnectorError(
    'config',
    'store-of-another-tenant',
    `The store ${path} has the webhooks of the tenant ${found.tenant} at ${found.baseUrl}, and the configuration is for ${owner.tenant} at ${owner.baseUrl}. Nothing was done: name the store of this tenant, or the configuration of that one.`,
  )
}

/** The webhooks of the file, kept in memory for the keeper and the receiver. */
export interface HookStore extends Hooks {
  readonly hooks: readonly StoredHook[]
  /** Writes the file, then updates the memory. If `writeStore` throws, nothing has changed. */
  replace(hooks: readonly StoredHook[]): Promise<void>
  /** Writes the file again as it should be: after a `replace` that has not ended yet, with its webhooks. */
  restore(): Promise<void>
}

/** Opens the file, which need not exist. Throws a config error for the store of another tenant. */
export async function openHookStore(
  path: string,
  /** Called with the keys and nonces, which must not appear in any text. */
  hide: (secret: string) => void,
  owner: StoreOwner,
): Promise<HookStore> {
  let hooks: readonly StoredHook[] = []
  let watchers = new Set<() => void>()
  /** Ends with the last write: of two at once, the earlier one could win. */
  let written = Promise.resolve()
  const content = await readStore(path)
  refuseOther(content.owner, owner, path)
  take(content.hooks)
  return {
    get hooks() {
      return hooks
    },
    replace: (next) => inTurn(() => next),
    restore: () => inTurn(() => hooks),
    byNonce: (collection, nonce) => {
      const hook = find(nonce)
      return hook?.collection === collection ? hook : undefined
    },
    settled,
  }

  function inTurn(wanted: () => readonly StoredHook[]): Promise<void> {
    const turn = written.then(async () => {
      const next = wanted()
      await writeStore(path, { hooks: next, owner })
      take(next)
    })
    written = turn.catch(() => {})
    return turn
  }

  function take(next: readonly StoredHook[]): void {
    hooks = next
    for (const hook of next) {
      hide(nonceOf(hook))
      if (hook.key !== undefined) hide(hook.key)
    }
    const woken = watchers
    watchers = new Set()
    for (const wake of woken) wake()
  }

  function find(nonce: string): Hook | undefined {
    return hooks.find((hook) => nonceOf(hook) === nonce)
  }

  async function settled(nonce: string, ms: number): Promise<Hook | undefined> {
    const late = performance.now() + ms
    for (;;) {
      const hook = find(nonce)
      if (hook?.state !== 'creating') return hook
      const left = late - performance.now()
      if (left <= 0) return undefined
      await changed(left)
    }
  }

  function changed(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        clearTimeout(timer)
        watchers.delete(wake)
        resolve()
      }
      const timer = setTimeout(wake, ms)
      watchers.add(wake)
    })
  }
}
