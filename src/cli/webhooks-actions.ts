import { randomBytes } from 'node:crypto'
import { ClientError } from '../client/client-error.ts'
import type {
  CreatedWebhook,
  ServiceClient,
  Webhook,
  WebhookRequest,
} from '../client/service-client.ts'
import { webhookScopes } from '../client/webhooks.ts'
import type { ReferenceChoice } from '../config/config.ts'
import { ConnectorError, InterruptedError } from '../ground/errors.ts'
import { warningOf } from '../ground/message-ids.ts'
import { checkNewFile, createPrivateFile } from '../ground/private-file.ts'
import { sign } from '../webhooks/receive/delivery.ts'
import { readStore, type StoredHook } from '../webhooks/serve/store.ts'
import { request, type TriggerAnswer } from '../webhooks/triggers/post-trigger.ts'
import { type ActionTools, EXIT, type ExitCode, knownName, UsageError } from './command.ts'
import {
  isDryRun,
  notFound,
  referencedCollection,
  sayAll,
  sayDry,
  sayFound,
  webhookCollection,
  withClient,
} from './with-client.ts'

/** The options of `protime webhooks create`. */
export interface CreateOptions {
  readonly collection: string
  readonly url: string
  readonly keyFile: string
  readonly reference?: readonly ReferenceChoice[]
}

const READ = ['webhooks.read']
const WRITE = ['webhooks.write']
/** The statuses by which the service filters. */
const STATUSES = ['Enabled', 'Disabled']

/** Creates a webhook; its key is on the disk before the webhook is printed. */
export async function create(tools: ActionTools, options: CreateOptions): Promise<ExitCode> {
  const { url, keyFile } = options
  const collection = webhookCollection(options.collection)
  const references = (options.reference ?? []).map(({ collection, names }) => ({
    collection: referencedCollection(collection),
    names,
  }))
  if (!URL.canParse(url)) throw new UsageError('--url is not an address')
  if (isDryRun(tools))
    return sayDry(tools, { collectionName: collection, destinationUrl: url, outcome: 'created' })
  await checkKeyFile(keyFile)
  return withClient(tools, webhookScopes([collection]), async (client) => {
    const created = await createOnce(client, tools.log, {
      collectionName: collection,
      destinationUrl: url,
      references,
    })
    await keep(created, keyFile, client)
    await tools.say(shown(created))
    return EXIT.done
  })
}

async function createOnce(
  { webhooks }: ServiceClient,
  log: ActionTools['log'],
  wanted: WebhookRequest,
): Promise<CreatedWebhook> {
  try {
    return await webhooks.create(wanted)
  } catch (error) {
    const advice = `The webhook may exist, but then nobody has its key: look for it with \`protime webhooks list --collection ${wanted.collectionName}\` and delete it before you try again.`
    if (error instanceof InterruptedError) log.warn(warningOf('webhook-may-exist', advice))
    if (!(error instanceof ClientError && error.mayHaveHappened)) throw error
    // The message for an answer without id or key already says that the webhook exists and has to be deleted.
    if (error.id === 'webhook-incomplete') throw error
    throw new ConnectorError(error.failure, error.id, `${error.message} ${advice}`, {
      cause: error,
    })
  }
}

/** First of all, so that no webhook is created whose key cannot be stored. */
async function checkKeyFile(path: string): Promise<void> {
  try {
    await checkNewFile(path)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new ConnectorError(
      'config',
      'key-file-not-made',
      code === 'EEXIST'
        ? `The key file exists already: ${path}. Nothing was done; name a new file.`
        : `The key file cannot be created (${code}): ${path}. Nothing was done; name a file in a folder that you may write to.`,
    )
  }
}

/** A webhook without its key is useless: it is deleted. */
async function keep(
  { id, key }: CreatedWebhook,
  keyFile: string,
  { webhooks }: ServiceClient,
): Promise<void> {
  try {
    await createPrivateFile(keyFile, key)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    const outcome = await webhooks.remove(id).then(
      () => 'so the new webhook was deleted',
      () =>
        `and the new webhook could not be deleted: delete it with \`protime webhooks delete ${id}\``,
    )
    const message = `The key cannot be written to its file (${code}), ${outcome}.`
    throw new ConnectorError('config', 'key-not-written', message, { cause: error })
  }
}

/** Prints webhooks, without their keys. */
export async function list(
  tools: ActionTools,
  {
    collection = [],
    status,
  }: { readonly collection?: readonly string[]; readonly status?: string },
): Promise<ExitCode> {
  const collections = collection.map(webhookCollection)
  if (status !== undefined) knownName(status, STATUSES, 'no webhooks are listed by the status')
  const filter = { collections, ...(status !== undefined && { status }) }
  await withClient(tools, READ, ({ webhooks }) => sayAll(tools, webhooks.list(filter), shown))
  return EXIT.done
}

/** Prints one webhook without its key; exit code 4 if there is none. */
export async function get(tools: ActionTools, id: string): Promise<ExitCode> {
  const webhook = await withClient(tools, READ, ({ webhooks }) => webhooks.get(id))
  return sayFound(tools, 'webhook', webhook && shown(webhook))
}

/** Deletes one webhook; exit code 4 if there is none. */
export async function remove(tools: ActionTools, id: string): Promise<ExitCode> {
  if (isDryRun(tools)) {
    const webhook = await withClient(tools, READ, ({ webhooks }) => webhooks.get(id))
    if (webhook === undefined) return notFound(tools, 'webhook')
    return sayDry(tools, { ...shown(webhook), outcome: 'deleted' })
  }
  const removal = await withClient(tools, WRITE, ({ webhooks }) => webhooks.remove(id))
  if (removal === 'absent') return notFound(tools, 'webhook')
  tools.log.info('The webhook is deleted.')
  return EXIT.done
}

/** A webhook in the printed form: without its key. */
function shown({ id, collectionName, destinationUrl, status, ...rest }: Webhook): object {
  const { validUntil, externalReferences } = rest
  return { id, collectionName, destinationUrl, status, validUntil, externalReferences }
}

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
  const hooks = (await readStore(options.store)).hooks.filter(
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
    for (const { collection } of hooks) await say({ collection, outcome: 'skipped', dryRun: true })
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
    return `A delivery without a valid signature got the response ${status}: another server listens at this address.`
  if (status >= 300 && status < 400)
    return `Deliveries are redirected (${status}): the service does not follow redirects.`
  if (status === 404)
    return text === ''
      ? 'The server responded with 404: it knows no webhook with this address. It has another store, or the proxy changes the path.'
      : 'The proxy responded with 404 and a page: its path is not that of the public URL.'
  if (status >= 500)
    return `The proxy responded with ${status}: it does not reach the server. Check the address to which it forwards deliveries.`
  return `The response was ${status}: check what the proxy refuses.`
}
