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
import { checkNewFile, createPrivateFile } from '../ground/private-file.ts'
import { type ActionTools, EXIT, type ExitCode, UsageError } from './command.ts'
import { referencedCollection, webhookCollection } from './known-name.ts'
import { isDryRun, sayAll, sayDry, withClient } from './with-client.ts'

/** The options of `protime webhooks create`. */
export interface CreateOptions {
  readonly collection: string
  readonly url: string
  readonly keyFile: string
  readonly reference?: readonly ReferenceChoice[]
}

const READ = ['webhooks.read']
const WRITE = ['webhooks.write']

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
    if (error instanceof InterruptedError) log.warn(advice)
    if (!(error instanceof ClientError && error.mayHaveHappened)) throw error
    // An answer without id or key says itself that the webhook is there, and to delete it.
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
  const filter = { collections, ...(status !== undefined && { status }) }
  await withClient(tools, READ, ({ webhooks }) => sayAll(tools, webhooks.list(filter), shown))
  return EXIT.done
}

/** Prints one webhook without its key; exit code 4 if there is none. */
export async function get(tools: ActionTools, id: string): Promise<ExitCode> {
  const webhook = await withClient(tools, READ, ({ webhooks }) => webhooks.get(id))
  if (webhook === undefined) return notFound(tools)
  await tools.say(shown(webhook))
  return EXIT.done
}

/** Deletes one webhook; exit code 4 if there is none. */
export async function remove(tools: ActionTools, id: string): Promise<ExitCode> {
  if (isDryRun(tools)) {
    const webhook = await withClient(tools, READ, ({ webhooks }) => webhooks.get(id))
    if (webhook === undefined) return notFound(tools)
    return sayDry(tools, { ...shown(webhook), outcome: 'deleted' })
  }
  const removal = await withClient(tools, WRITE, ({ webhooks }) => webhooks.remove(id))
  if (removal === 'absent') return notFound(tools)
  tools.log.info('The webhook is deleted.')
  return EXIT.done
}

/** A webhook in the printed form: without its key. */
function shown({ id, collectionName, destinationUrl, status, ...rest }: Webhook): object {
  const { validUntil, externalReferences } = rest
  return { id, collectionName, destinationUrl, status, validUntil, externalReferences }
}

function notFound({ log }: ActionTools): ExitCode {
  log.warn('There is no such webhook.')
  return EXIT.notFound
}
