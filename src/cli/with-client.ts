import { createServiceClient } from '../client/create-service-client.ts'
import { type ServiceClient, webhookCollections } from '../client/service-client.ts'
import { parseWriteSettings } from '../config/write-settings.ts'
import { warningOf } from '../ground/message-ids.ts'
import { referencedCollections } from '../streams/collections.ts'
import { type ActionTools, EXIT, type ExitCode, knownName } from './command.ts'

/** Calls an action with a client that has these scopes and logs why it waits; closes the client at the end. */
export async function withClient<T>(
  { config, mask, signal, log }: ActionTools,
  scopes: readonly string[],
  work: (client: ServiceClient) => Promise<T>,
): Promise<T> {
  const onRetry = ({ reason }: { readonly reason: string }) =>
    log.warn(warningOf('request-repeated', `The request is tried again. ${reason}`))
  const client = createServiceClient(config, { scopes, mask, signal, log, onRetry })
  try {
    return await work(client)
  } finally {
    await client.close()
  }
}

/** The tools of an action that shows no words of the service, because they may contain values of references. */
export function withoutWords(tools: ActionTools): ActionTools {
  return { ...tools, config: { ...tools.config, hidesServiceWords: true } }
}

/** Ends a command whose item does not exist. */
export function notFound({ log }: ActionTools, noun: string): ExitCode {
  log.warn(warningOf('not-found', `There is no such ${noun}.`))
  return EXIT.notFound
}

/** Prints one item of the service; exit code 4 if there is none. */
export async function sayFound(
  tools: ActionTools,
  noun: string,
  found: object | undefined,
): Promise<ExitCode> {
  if (found === undefined) return notFound(tools, noun)
  await tools.say(found)
  return EXIT.done
}

/** Whether the configuration has `dry_run`. */
export function isDryRun({ input }: Pick<ActionTools, 'input'>): boolean {
  return parseWriteSettings(input).dryRun
}

/** Prints what a command would do without `dry_run`. */
export async function sayDry({ say, log }: ActionTools, value: object): Promise<ExitCode> {
  await say({ ...value, dryRun: true })
  log.info('Nothing was changed: dry_run is set.')
  return EXIT.done
}

/** Writes a whole list to stdout, as fast as the reader accepts it, without the items of which nothing is shown. */
export async function sayAll<T>(
  { say }: ActionTools,
  list: AsyncIterable<T>,
  shown: (item: T) => unknown = (item) => item,
): Promise<void> {
  for await (const item of list) {
    const left = shown(item)
    if (left !== undefined) await say(left)
  }
}

/** The service's name of a collection that has external references. */
export function referencedCollection(text: string): string {
  return knownName(collectionName(text), referencedCollections, 'there are no references of')
}

/** The service's name of a collection that has webhooks. */
export function webhookCollection(text: string): string {
  return knownName(collectionName(text), webhookCollections, 'there are no webhooks of')
}

/** The service's spelling, even if a stream was named: `access-clockings`. */
function collectionName(text: string): string {
  return text.trim().replaceAll('_', '-')
}
