import { createServiceClient } from '../client/create-service-client.ts'
import type { ServiceClient } from '../client/service-client.ts'
import type { ActionTools } from './command.ts'

/** Works with a client that has these scopes and tells why it waits; closes it at the end. */
export async function withClient<T>(
  { config, mask, signal, log }: ActionTools,
  scopes: readonly string[],
  work: (client: ServiceClient) => Promise<T>,
): Promise<T> {
  const onRetry = ({ reason }: { readonly reason: string }) =>
    log.warn(`The request is tried again. ${reason}`)
  const client = createServiceClient(config, { scopes, mask, signal, log, onRetry })
  try {
    return await work(client)
  } finally {
    await client.close()
  }
}

/** Writes everything of a list to stdout, as fast as it is read there. */
export async function sayAll<T>(
  { say }: ActionTools,
  list: AsyncIterable<T>,
  shown: (item: T) => unknown = (item) => item,
): Promise<void> {
  for await (const item of list) await say(shown(item))
}
