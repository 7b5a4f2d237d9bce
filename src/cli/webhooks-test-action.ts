import { randomBytes } from 'node:crypto'
import { ConnectorError } from '../ground/errors.ts'
import { sign } from '../webhooks/receive/verify.ts'
import { readStore, type StoredHook } from '../webhooks/serve/store.ts'
import { request, type TriggerAnswer } from '../webhooks/triggers/post-trigger.ts'
import { type ActionTools, EXIT, type ExitCode, UsageError } from './command.ts'
import { webhookCollection } from './known-name.ts'
import { isDryRun } from './with-client.ts'

/** The options of `protime webhooks test`. */
export interface TestOptions {
  readonly store: string
  readonly collection?: readonly string[]
}

/** Spaces and letters that a proxy changes if it parses and rewrites the body. */
const BODY = '{ "id": 0, "test": "Zoë \\u20ac" }\n'
const MAX_BYTES = 65_536
const WITHIN_MS = 15_000

/** A live webhook of the store, which has a key. */
type LiveHook = StoredHook & { readonly key: string }

/**
 * Sends a delivery to each live webhook of the store through its public address, as the service does, and
 * prints the results. For the server these are normal deliveries, so it starts a sync.
 */
export async function test(tools: ActionTools, options: TestOptions): Promise<ExitCode> {
  const { say, mask, log } = tools
  const chosen = options.collection?.map(webhookCollection)
  const hooks = (await readStore(options.store)).filter(
    (hook): hook is LiveHook =>
      hook.state === 'live' &&
      hook.key !== undefined &&
      chosen?.includes(hook.collection) !== false,
  )
  if (hooks.length === 0) {
    throw new UsageError(
      `the store ${options.store} has no webhook to test: start protime webhooks serve first`,
    )
  }
  if (isDryRun(tools)) {
    for (const { collection } of hooks)
      await say({ collection, outcome: 'delivered', dryRun: true })
    log.info('Nothing was delivered, and nothing was changed: dry_run is set.')
    return EXIT.done
  }
  let failures = 0
  for (const hook of hooks) {
    for (const secret of [hook.key, new URL(hook.destinationUrl).pathname]) mask.add(secret)
    const reason = await faultOnTheWay(hook, tools.signal)
    if (reason !== undefined) failures++
    const { collection } = hook
    const outcome = reason === undefined ? { outcome: 'delivered' } : { outcome: 'failed', reason }
    await say({ collection, ...outcome })
  }
  const delivered = hooks.length - failures
  log.info(`${delivered} of ${hooks.length} deliveries arrived.`)
  return failures === 0 ? EXIT.done : EXIT.failed
}

/** The problem of the connection to a webhook; undefined if it works. */
async function faultOnTheWay(
  { destinationUrl: url, key }: LiveHook,
  signal: AbortSignal,
): Promise<string | undefined> {
  const deliver = async (signedBy: string) => {
    const headers = { authorization: await sign(BODY, signedBy) }
    const limits = { signal, withinMs: WITHIN_MS, maxBytes: MAX_BYTES }
    return request({ method: 'POST', url, headers, text: BODY, ...limits })
  }
  try {
    // A server that accepts an unsigned delivery is not ours.
    const stranger = await deliver(randomBytes(16).toString('hex'))
    if (stranger.status !== 401) return faultOf(stranger)
    const { status } = await deliver(key)
    if (status === 200) return undefined
    return status === 401
      ? 'The delivery arrived with a wrong signature: its body or its Authorization header was changed on the way, or the server has another store.'
      : faultOf({ status, text: '' })
  } catch (error) {
    if (!(error instanceof ConnectorError)) throw error
    return `There was ${error.message}: check the host name, the firewall and the certificate.`
  }
}

function faultOf({ status, text }: TriggerAnswer): string {
  if (status >= 200 && status < 300)
    return `A delivery without a valid signature was answered ${status}: another server answers at this address.`
  if (status >= 300 && status < 400)
    return `Deliveries are redirected (${status}): the service does not follow redirects.`
  if (status === 404)
    return text === ''
      ? 'The server answered 404: it knows no webhook with this address. It has another store, or the proxy changes the path.'
      : 'The proxy answered 404 with a page: its path is not that of the public URL.'
  if (status >= 500)
    return `The proxy answered ${status}: it does not reach the server. Check the address to which it forwards deliveries.`
  return `The answer was ${status}: check what the proxy refuses.`
}
