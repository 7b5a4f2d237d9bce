import { createServiceClient } from '../client/create-service-client.ts'
import { webhookCollections } from '../client/service-client.ts'
import { webhookScopes } from '../client/webhooks.ts'
import { isLoopback } from '../ground/loopback.ts'
import { createMask } from '../ground/mask.ts'
import { resolvedFile } from '../ground/private-file.ts'
import { lockFile } from '../ground/process-lock.ts'
import { packageVersion } from '../ground/project-files.ts'
import { isBlank } from '../ground/text.ts'
import { createEndpoints, LINK_TOKENS, scopeName } from '../http/endpoints.ts'
import { retryPolicyOf } from '../http/retry.ts'
import { type KeeperTools, unsubscribe } from '../webhooks/serve/keeper.ts'
import { type ServeSettings, startServer } from '../webhooks/serve/serve.ts'
import { openHookStore } from '../webhooks/serve/store.ts'
import type { Trigger } from '../webhooks/serve/sync-scheduler.ts'
import { createAirbyteTrigger } from '../webhooks/triggers/airbyte-trigger.ts'
import { createPostTrigger, type PostSettings } from '../webhooks/triggers/post-trigger.ts'
import { createRunTrigger } from '../webhooks/triggers/run-trigger.ts'
import { type ActionTools, type CommandAction, EXIT, type ExitCode, UsageError } from './command.ts'
import { isDryRun, webhookCollection } from './with-client.ts'

/** The password of the user in the address of `--post`. */
const POST_PASSWORD = 'PROTIME_POST_PASSWORD'

export type Environment = Readonly<Record<string, string | undefined>>

/** The options of `protime webhooks serve`, unparsed. */
export interface ServeWords {
  readonly publicUrl?: string
  readonly listen: string
  readonly store?: string
  readonly collection?: string
  readonly run?: string
  readonly airbyteConnection?: string
  readonly post?: string
  readonly debounce: string
  readonly maxWait: string
  readonly minInterval?: string
  readonly watchInterval: string
  readonly retry: string
  readonly poll: string
  readonly adopt?: true
  readonly once?: true
  readonly unsubscribe?: true
}

/** The settings of a server; throws a UsageError for options that make no sense. */
export function parseServeWords(
  words: ServeWords,
  environment: Environment,
): Omit<ServeSettings, 'owner'> {
  const usualInterval = words.run === undefined ? '300' : '60'
  return {
    trigger: triggerOf(words, environment),
    publicUrl: publicUrlOf(words),
    ...addressOf(words.listen),
    storePath: storeOf(words),
    collections: collectionsOf(words.collection),
    adopt: words.adopt === true,
    once: words.once === true,
    times: {
      debounceMs: milliseconds(words.debounce, '--debounce'),
      maxWaitMs: milliseconds(words.maxWait, '--max-wait'),
      minIntervalMs: milliseconds(words.minInterval ?? usualInterval, '--min-interval'),
      retryMs: pause(words.retry, '--retry'),
    },
    watchMs: pause(words.watchInterval, '--watch-interval'),
  }
}

/** The value of a required option. */
function required(value: string | undefined, option: string): string {
  if (value === undefined || value === '') throw new UsageError(`the option ${option} is missing`)
  return value
}

/** The way to start a sync that the options choose. */
function triggerOf(words: ServeWords, environment: Environment): Trigger {
  const { run, airbyteConnection, post } = words
  const chosen = [run, airbyteConnection, post].filter((word) => word !== undefined)
  // An empty command always succeeds.
  if (chosen.length !== 1 || chosen.some(isBlank)) {
    throw new UsageError('give one of --run, --airbyte-connection and --post, which starts a sync')
  }
  if (run !== undefined) return createRunTrigger(run)
  if (post !== undefined) return createPostTrigger(postSettings(post, environment))
  const variable = (name: string) => {
    const value = environment[name]
    if (value) return value
    throw new UsageError(`--airbyte-connection needs the environment variable ${name}`)
  }
  return createAirbyteTrigger({
    url: schedulerUrl(variable('AIRBYTE_URL'), 'AIRBYTE_URL').href.replace(/\/+$/, ''),
    clientId: variable('AIRBYTE_CLIENT_ID'),
    clientSecret: variable('AIRBYTE_CLIENT_SECRET'),
    connectionId: airbyteConnection ?? '',
    pollMs: pause(words.poll, '--poll'),
    pendingMs: PENDING_MS,
  })
}

/** Longer than Airbyte takes to start a sync while a worker is free. */
const PENDING_MS = 30 * 60_000

function postSettings(post: string, environment: Environment): PostSettings {
  const url = schedulerUrl(post, '--post')
  if (url.password !== '') {
    throw new UsageError(
      `everybody on this machine can see the password in --post: leave it out, and set ${POST_PASSWORD}`,
    )
  }
  return { url: url.href, password: environment[POST_PASSWORD] }
}

/** The address of the scheduler: requests to it may contain a secret. */
function schedulerUrl(text: string, option: string): URL {
  const url = urlOf(text, option)
  if (url.protocol === 'https:' || isLoopback(url.hostname)) return url
  throw new UsageError(
    `${option} must be an https address; plain http is accepted for loopback only`,
  )
}

/** Without a slash at the end. */
function publicUrlOf({ publicUrl }: ServeWords): string {
  const url = urlOf(required(publicUrl, '--public-url <url>'), '--public-url')
  const isBare = [url.username, url.password, url.search, url.hash].every((part) => part === '')
  if (!isBare || (url.protocol !== 'https:' && !isLoopback(url.hostname))) {
    throw new UsageError(
      '--public-url must be an https address without user name, query and fragment; plain http is accepted for loopback only',
    )
  }
  return url.href.replace(/\/+$/, '')
}

function urlOf(text: string, option: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url !== undefined && /^https?:$/.test(url.protocol)) return url
  // The message does not repeat the text, which may contain a password.
  throw new UsageError(`${option} is not an http or https address`)
}

function addressOf(text: string): { host: string; port: number } {
  const [, bracketed, plain, digits] = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(text) ?? []
  const host = bracketed ?? plain
  const port = Number(digits)
  if (host !== undefined && port <= 65_535) return { host, port }
  throw new UsageError(`--listen takes a host and a port, such as 127.0.0.1:8080, not ${text}`)
}

function collectionsOf(text: string | undefined): readonly string[] {
  if (text === undefined) return webhookCollections
  return [...new Set(text.split(',').map(webhookCollection))]
}

function milliseconds(text: string, option: string): number {
  const seconds = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN
  // Longer than the longest timer.
  if (seconds <= 2_000_000) return seconds * 1000
  throw new UsageError(`${option} takes a number of seconds, not ${text}`)
}

/** A time between two attempts: without it, they would follow each other hundreds of times per second. */
function pause(text: string, option: string): number {
  const ms = milliseconds(text, option)
  if (ms > 0) return ms
  throw new UsageError(`${option} takes a number of seconds above 0`)
}

/** A server stops within 20 seconds: the command that syncs and open requests have 15. */
const STOP_MS = 20_000
/** Rounds are repeated soon, so their requests need no longer timeouts than those of a sync. */
const ROUND_MS = 30_000

/** Runs the server, or deletes its webhooks, as the command line says. */
export function serveAction(words: ServeWords): CommandAction {
  return async (tools) => {
    const { log, mask, signal, env: environment } = tools
    const storePath = storeOf(words)
    if (isDryRun(tools))
      throw new UsageError(
        'the configuration has dry_run, but this server creates and deletes webhooks: remove dry_run',
      )
    const { tenant, baseUrl } = tools.config
    if (words.unsubscribe) {
      return locked(storePath, async () => {
        const store = await openHookStore(storePath, mask.add, { tenant, baseUrl })
        await unsubscribe(store, { ...connection(tools, []), log, signal })
        return EXIT.done
      })
    }
    const settings = parseServeWords(words, environment)
    const serving = { ...connection(tools, settings.collections), log, signal, hide: mask.add }
    for (const secret of [environment['AIRBYTE_CLIENT_SECRET'], environment[POST_PASSWORD]])
      if (secret) mask.add(secret)
    return locked(storePath, serve)

    async function serve(): Promise<ExitCode> {
      const server = await startServer({ ...settings, owner: { tenant, baseUrl } }, serving)
      tools.allowToEnd(STOP_MS)
      const isGood = await server.run()
      return words.once && !isGood ? EXIT.failed : EXIT.done
    }
  }
}

/**
 * Two paths of the same store count as one: its lock is beside the real file, and a link that is replaced
 * does not move the file.
 */
function storeOf({ store }: ServeWords): string {
  return resolvedFile(required(store, '--store <file>'))
}

/** Locks a store against other processes, then works with it. */
async function locked<T>(storePath: string, work: () => Promise<T>): Promise<T> {
  const lock = await lockFile(storePath, {
    subject: `The store ${storePath}`,
    user: 'protime webhooks serve',
    advice: 'Stop that one first, or name another store with --store.',
  })
  try {
    return await work()
  } finally {
    await lock.release()
  }
}

/** A client for the webhooks of these collections, with no other rights. */
function connection(
  { config, signal, log }: ActionTools,
  collections: readonly string[],
): Pick<KeeperTools, 'connect' | 'scopesOf'> {
  const endpoints = createEndpoints({ ...config, version: packageVersion() })
  return {
    connect: () =>
      createServiceClient(config, {
        scopes: ['webhooks.read', ...webhookScopes(collections)],
        // Each round has its own token, which need not be kept for long.
        mask: createMask(LINK_TOKENS),
        signal,
        log,
        retryPolicy: retryPolicyOf(config.retryMinutes, ROUND_MS),
      }),
    scopesOf: (collection) =>
      webhookScopes([collection]).map((scope) => scopeName(endpoints, scope)),
  }
}
