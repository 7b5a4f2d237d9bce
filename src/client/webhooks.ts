import { isJsonObject, type JsonObject } from '../ground/json.ts'
import type { Mask } from '../ground/mask.ts'
import { referencesParameter } from '../http/endpoints.ts'
import { statusIs } from '../http/status.ts'
import { parseEnvelope } from '../page/envelope.ts'
import { readScopes, streams } from '../streams/streams.ts'
import { ClientError } from './client-error.ts'
import { createdBody, createdId, member, parseOne, type Requests, textOf } from './requests.ts'
import type {
  CallOptions,
  Webhook,
  WebhookFilter,
  WebhookRequest,
  Webhooks,
} from './service-client.ts'

const COLLECTION = 'webhooks'
/** Not every edition of the service's documents has scopes for webhooks. */
const READ = { scope: `${COLLECTION}.read`, isScopeKnown: false } as const
const WRITE = { scope: `${COLLECTION}.write`, isScopeKnown: false } as const
const STATUSES = ['Enabled', 'Disabled', 'Uninitialized']
/** The status if an answer has none. */
const UNKNOWN = 'Unknown'

/** The webhooks of the service. The keys of new webhooks are masked from then on. */
export function createWebhooks({ send, get, pages, remove }: Requests, mask: Mask): Webhooks {
  return {
    async create(webhook, options) {
      const { destinationUrl, collectionName } = webhook
      const body = { destinationUrl, collectionName }
      const query = referencesQuery(webhook)
      const path = [COLLECTION]
      const operation = { method: 'POST', path, query, body, ...WRITE, ...options } as const
      const answer = await send(operation).catch(async (error: unknown) => {
        if (!isPermission(error)) throw error
        // The token covers more now. Only the list says whether the first request created a webhook.
        const isThere = await isListed(webhook, options)
        if (isThere === false) return send(operation)
        throw isThere ? asDone(error) : error
      })
      const record = createdBody(answer.text)
      const told = answer.status === 201 ? textOf(member(record, 'id')) : undefined
      const id = createdId(answer, COLLECTION) ?? told
      const key = keyOf(record)
      if (id === undefined || key === undefined) throw unusable(id, record)
      mask.add(key)
      const read = readWebhook({ ...record, id })
      return {
        ...read,
        collectionName: read.collectionName || collectionName,
        destinationUrl: read.destinationUrl || destinationUrl,
        // The documents say that a webhook is enabled after its creation.
        status: read.status === UNKNOWN ? 'Enabled' : read.status,
        key,
      }
    },

    list,

    async get(id, options) {
      return get({ ...address(id), method: 'GET', ...READ, ...options }, ({ text }) =>
        readWebhook(parseOne(text)),
      )
    },

    async remove(id, options) {
      return remove({ ...address(id), method: 'DELETE', ...WRITE, ...options })
    },
  }

  function list(filter: WebhookFilter = {}, options: CallOptions = {}): AsyncIterable<Webhook> {
    const operation = { method: 'GET', path: [COLLECTION], query: filterQuery(filter) } as const
    return pages({ ...operation, ...READ, ...options }, (text) => {
      const { items, nextLink } = parseEnvelope(text)
      return { items: items.map(readListed), nextLink }
    })
  }

  /**
   * Undefined if the list cannot be read. Webhooks of several collections may have the same URL.
   */
  async function isListed(
    { destinationUrl, collectionName }: WebhookRequest,
    options?: CallOptions,
  ): Promise<boolean | undefined> {
    try {
      for await (const one of list({}, options))
        if (
          one.destinationUrl === destinationUrl &&
          (one.collectionName === '' || one.collectionName === collectionName)
        )
          return true
      return false
    } catch (error) {
      if (error instanceof ClientError) return undefined
      throw error
    }
  }
}

function isPermission(error: unknown): error is ClientError {
  return error instanceof ClientError && statusIs(error.status, 'permission')
}

/** The same failure, but it is not certain that nothing was done. */
function asDone(error: ClientError): ClientError {
  const { failure, id, message } = error
  return new ClientError(failure, id, message, { ...error, mayHaveHappened: true, cause: error })
}

function address(id: string): { readonly path: readonly string[] } {
  if (id === '')
    throw new ClientError('config', 'webhook-id-empty', 'The id of the webhook is empty.')
  return { path: [COLLECTION, id] }
}

function referencesQuery({ references = [] }: WebhookRequest): string | undefined {
  const pairs = references.flatMap(({ collection, names }) =>
    names.map((name) => [collection, name] as const),
  )
  return pairs.length === 0 ? undefined : referencesParameter(pairs)
}

function filterQuery({ collections = [], status }: WebhookFilter): string | undefined {
  const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`
  const conditions = [
    ...(collections.length === 0
      ? []
      : [`collection-name in (${collections.map(quoted).join(',')})`]),
    ...(status === undefined ? [] : [`status eq ${quoted(status)}`]),
  ]
  if (conditions.length === 0) return undefined
  return `filter=${encodeURIComponent(conditions.join(' and ')).replaceAll("'", '%27')}`
}

/** One without a status would count as one that cannot be used, and be replaced. */
function readListed(record: JsonObject): Webhook {
  const webhook = readWebhook(record)
  if (webhook.status === UNKNOWN) throw new SyntaxError('a webhook has no status')
  return webhook
}

function readWebhook(record: JsonObject): Webhook {
  const id = textOf(member(record, 'id'))
  if (id === undefined) throw new SyntaxError('a webhook has no id')
  return {
    id,
    collectionName: textOf(member(record, 'collectionName')) ?? '',
    destinationUrl: textOf(member(record, 'destinationUrl')) ?? '',
    status: statusOf(record),
    validUntil: dateOf(textOf(member(record, 'validUntil'))),
    externalReferences: member(record, 'externalReferences') ?? undefined,
  }
}

/**
 * The documented spelling, in any case; a webhook that is marked as deleted counts as deleted, whatever its
 * status.
 */
function statusOf(record: JsonObject): string {
  const isDeleted = ['isDeleted', 'deleted'].some((name) => member(record, name) === true)
  if (isDeleted) return 'Deleted'
  const status = textOf(member(record, 'status')) ?? UNKNOWN
  return STATUSES.find((name) => name.toLowerCase() === status.toLowerCase()) ?? status
}

/** ISO 8601; without an offset it is UTC. */
function dateOf(text: string | undefined): Date | undefined {
  if (text === undefined) return undefined
  const hasOffset = /(Z|[+-]\d\d:?\d\d)$/i.test(text) || !text.includes('T')
  const date = new Date(hasOffset ? text : `${text}Z`)
  return Number.isNaN(date.getTime()) ? undefined : date
}

/** Names of members that belong to a key but are not the key, or not private. */
const NO_SECRET = /algorithm|type|public|^ids?(?![a-z])|[\d_-]ids?$|[a-z]Ids?(?![a-z])|keyids?$/i
const PRIVATE_KEY = /private.*key|key.*private/i
const KEY_OR_SECRET = /key|secret/i

/**
 * The private key. The name of its member is not documented, but says what it is: `private` and `key`, or one
 * of `key` and `secret`. If two members fit, there is no key: a guess could be a public value, with which
 * everybody could sign.
 */
function keyOf(record: JsonObject): string | undefined {
  const texts = secretsOf(record)
  const byName = (pattern: RegExp) => texts.filter(([name]) => pattern.test(name))
  const [key, ...others] = byName(PRIVATE_KEY).length > 0 ? byName(PRIVATE_KEY) : texts
  return others.length > 0 ? undefined : key?.[1]
}

/** The texts whose names mark them as secret, together with these, also in nested objects. */
function secretsOf(record: JsonObject): (readonly [name: string, text: string])[] {
  return Object.entries(record)
    .filter(([name]) => !NO_SECRET.test(name))
    .flatMap(([name, value]) => {
      if (isJsonObject(value)) return secretsOf(value)
      const isSecret = typeof value === 'string' && value !== '' && KEY_OR_SECRET.test(name)
      return isSecret ? [[name, value] as const] : []
    })
}

/** A new webhook cannot be used without its key, which is sent only once. */
function unusable(id: string | undefined, record: JsonObject): ClientError {
  const members = Object.keys(record).join(', ')
  return new ClientError(
    'system',
    'webhook-incomplete',
    id === undefined
      ? 'The service created a webhook without saying which: find it in the list of webhooks and delete it.'
      : `The service created the webhook ${id} without its key, so nobody can verify its deliveries: delete it. The response has ${members === '' ? 'no body' : `the members ${members}`}.`,
    { mayHaveHappened: true },
  )
}

/**
 * The scopes to create webhooks of these collections, including `.read`, because events contain what a read
 * returns.
 */
export function webhookScopes(collections: readonly string[]): readonly string[] {
  const byName = new Map([...streams.values()].map((stream) => [stream.collection, stream]))
  const read = collections.map(
    (collection) => readScopes(byName.get(collection) ?? { collection })[0],
  )
  return ['webhooks.write', ...new Set(read)]
}
