import { isLoopback } from '../config/config.ts'
import type { ServeSettings } from '../webhooks/serve/serve.ts'
import { createAirbyteTrigger } from '../webhooks/serve/triggers/airbyte.ts'
import { createPostTrigger } from '../webhooks/serve/triggers/post.ts'
import { createRunTrigger } from '../webhooks/serve/triggers/run.ts'
import type { Trigger } from '../webhooks/serve/triggers/trigger.ts'
import { webhookCollections } from '../webhooks/serve/webhook-collections.ts'
import { UsageError } from './exit-code.ts'
import { webhookCollection } from './known-name.ts'
import type { ServeWords } from './serve-options.ts'

export type Environment = Readonly<Record<string, string | undefined>>

/** The settings of a server; throws a UsageError with a sentence for words that make no sense. */
export function parseServeWords(words: ServeWords, environment: Environment): ServeSettings {
  return {
    trigger: triggerOf(words, environment),
    publicUrl: publicUrlOf(words),
    ...addressOf(words.listen),
    storePath: required(words.store, '--store <file>'),
    collections: collectionsOf(words.collection),
    adopt: words.adopt === true,
    keysOnly: words.keysOnly === true,
    once: words.once === true,
    times: {
      quietMs: milliseconds(words.quiet, '--quiet'),
      maxWaitMs: milliseconds(words.maxWait, '--max-wait'),
      minIntervalMs: milliseconds(words.minInterval ?? usualInterval(words), '--min-interval'),
      retryMs: milliseconds(words.retry, '--retry'),
    },
    watchMs: milliseconds(words.watchInterval, '--watch-interval'),
  }
}

/** The value of an option that cannot be left out. */
export function required(value: string | undefined, option: string): string {
  if (value === undefined || value === '') throw new UsageError(`the option ${option} is missing`)
  return value
}

/** The one way to sync that the words choose. */
function triggerOf(words: ServeWords, environment: Environment): Trigger {
  const { run, airbyteConnection, post } = words
  const chosen = [run, airbyteConnection, post].filter((word) => word !== undefined)
  if (chosen.length !== 1) {
    throw new UsageError('give one of --run, --airbyte-connection and --post, which starts a sync')
  }
  if (run !== undefined) return createRunTrigger(run)
  if (post !== undefined) return createPostTrigger(urlOf(post, '--post').href)
  const variable = (name: string) => {
    const value = environment[name]
    if (value) return value
    throw new UsageError(`--airbyte-connection needs the environment variable ${name}`)
  }
  return createAirbyteTrigger({
    url: urlOf(variable('AIRBYTE_URL'), 'AIRBYTE_URL').href.replace(/\/+$/, ''),
    clientId: variable('AIRBYTE_CLIENT_ID'),
    clientSecret: variable('AIRBYTE_CLIENT_SECRET'),
    connectionId: airbyteConnection ?? '',
    pollMs: milliseconds(words.poll, '--poll'),
  })
}

function usualInterval({ run }: ServeWords): string {
  return run === undefined ? '300' : '60'
}

/** Without a slash at the end; empty where webhooks are somebody else's matter. */
function publicUrlOf({ publicUrl, keysOnly }: ServeWords): string {
  if (publicUrl === undefined && keysOnly) return ''
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
  // Without the text, which may hold a password.
  throw new UsageError(`${option} is no http or https address`)
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
  // Longer than a timer can wait.
  if (seconds <= 2_000_000) return seconds * 1000
  throw new UsageError(`${option} takes a number of seconds, not ${text}`)
}
