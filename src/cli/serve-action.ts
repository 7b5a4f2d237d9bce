import { createServiceClient } from '../client/create-service-client.ts'
import { webhookScopes } from '../client/webhook-scopes.ts'
import { createEndpoints, scopeName } from '../http/endpoints.ts'
import { LINK_TOKENS } from '../http/links.ts'
import { retryPolicyOf } from '../http/retry-policy.ts'
import { packageVersion } from '../project-files.ts'
import { ConnectorError } from '../protocol/errors.ts'
import { createMask } from '../protocol/mask.ts'
import { openHookStore } from '../webhooks/serve/hook-store.ts'
import { type KeeperTools, unsubscribe } from '../webhooks/serve/keeper.ts'
import { startServer } from '../webhooks/serve/serve.ts'
import { lockStore } from '../webhooks/serve/store-lock.ts'
import { webhookCollections } from '../webhooks/serve/webhook-collections.ts'
import type { Action, ActionTools } from './action.ts'
import { readChosenStreams } from './chosen-streams.ts'
import { EXIT, type ExitCode, StartError } from './exit-code.ts'
import type { ServeWords } from './serve-options.ts'
import { type Environment, parseServeWords, required } from './serve-settings.ts'

/** A server stops within 20 seconds: the command that syncs has 15, requests under way as long. */
const STOP_MS = 20_000
/** A round is repeated soon: a request of it need not outlast what the sync's do. */
const ROUND_MS = 30_000

/** Runs the server, or deletes its webhooks, as the words of the command line say. */
export function serveAction(words: ServeWords, environment: Environment): Action {
  return async (tools) => {
    const { log, mask, signal } = tools
    const storePath = required(words.store, '--store <file>')
    const serving = { ...connection(tools), log, signal, hide: mask.add }
    if (words.unsubscribe) {
      return locked(storePath, async () => {
        const store = await orStartError(openHookStore(storePath, mask.add))
        await unsubscribe(store, serving)
        return EXIT.done
      })
    }
    const settings = parseServeWords(words, environment)
    if (environment['AIRBYTE_CLIENT_SECRET']) mask.add(environment['AIRBYTE_CLIENT_SECRET'])
    const { catalog } = words
    const chosen =
      catalog === undefined ? {} : { chosen: await orStartError(readChosenStreams(catalog)) }
    // Who only reads the store needs it for nobody else.
    return words.keysOnly ? serve() : locked(storePath, serve)

    async function serve(): Promise<ExitCode> {
      const server = await orStartError(startServer({ ...settings, ...chosen }, serving))
      tools.allowToEnd(STOP_MS)
      const isGood = await orStartError(server.run())
      return words.once && !isGood ? EXIT.failed : EXIT.done
    }
  }
}

/** Works with a store that no other process may write meanwhile. */
async function locked<T>(storePath: string, work: () => Promise<T>): Promise<T> {
  const lock = await orStartError(lockStore(storePath))
  try {
    return await work()
  } finally {
    await lock.release()
  }
}

function connection({
  config,
  signal,
  log,
}: ActionTools): Pick<KeeperTools, 'connect' | 'scopesOf'> {
  const endpoints = createEndpoints({ ...config, version: packageVersion() })
  return {
    connect: () =>
      createServiceClient(config, {
        scopes: ['webhooks.read', ...webhookScopes(webhookCollections)],
        // Each round has a token of its own, which need not be remembered for long.
        mask: createMask(LINK_TOKENS),
        signal,
        log,
        retryPolicy: retryPolicyOf(config.retryMinutes, ROUND_MS),
      }),
    scopesOf: (collection) =>
      webhookScopes([collection]).map((scope) => scopeName(endpoints, scope)),
  }
}

/** What cannot be started is no failure of the service: somebody has to mend it first. */
async function orStartError<T>(starting: Promise<T>): Promise<T> {
  try {
    return await starting
  } catch (error) {
    if (!(error instanceof ConnectorError)) throw error
    throw new StartError(error.failure, error.message)
  }
}
