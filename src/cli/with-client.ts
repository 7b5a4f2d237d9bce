import { createServiceClient } from '../client/create-service-client.ts'
import type { ServiceClient } from '../client/service-client.ts'
import { parseWriteSettings } from '../config/write-settings.ts'
import { withoutWrites } from '../write/write-client.ts'
import { type ActionTools, EXIT, type ExitCode } from './command.ts'

/**
 * Works with a client that has these scopes and tells why it waits; closes it at the end. With `dry_run` in the
 * configuration its writes do nothing, whatever asks for them.
 */
export async function withClient<T>(
  tools: ActionTools,
  scopes: readonly string[],
  work: (client: ServiceClient) => Promise<T>,
): Promise<T> {
  const { config, mask, signal, log } = tools
  const onRetry = ({ reason }: { readonly reason: string }) =>
    log.warn(`The request is tried again. ${reason}`)
  const client = createServiceClient(config, { scopes, mask, signal, log, onRetry })
  try {
    return await work(isDryRun(tools) ? withoutAnyWrites(client) : client)
  } finally {
    await client.close()
  }
}

/** Nothing that a command forgets can change the service: a webhook could not even seem to be made. */
function withoutAnyWrites(client: ServiceClient): ServiceClient {
  const { references, jobCategories, workLocations } = withoutWrites(client)
  const refuse = () =>
    Promise.reject(new Error('dry_run is set, and this would change the service'))
  return {
    ...client,
    references,
    jobCategories: { ...client.jobCategories, ...jobCategories },
    workLocations,
    webhooks: { ...client.webhooks, create: refuse, remove: refuse },
  }
}

/** Whether the configuration says that nothing is to be changed. */
export function isDryRun({ input }: Pick<ActionTools, 'input'>): boolean {
  return parseWriteSettings(input).dryRun
}

/** Prints what a command would have done without `dry_run`. */
export async function sayDry({ say, log }: ActionTools, value: object): Promise<ExitCode> {
  await say({ ...value, dryRun: true })
  log.info('Nothing was changed: dry_run is set.')
  return EXIT.done
}

/** Writes everything of a list to stdout, as fast as it is read there. */
export async function sayAll<T>(
  { say }: ActionTools,
  list: AsyncIterable<T>,
  shown: (item: T) => unknown = (item) => item,
): Promise<void> {
  for await (const item of list) await say(shown(item))
}
