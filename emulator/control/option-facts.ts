import type { EmulatorOptions, WebhookOptions, WriteOptions } from '../options.ts'
import { isLoopbackOrigin } from '../webhooks/post-event.ts'

/** What one option means, and which values it takes; `resolveOptions` has its default. */
export interface OptionFacts {
  readonly text: string
  /** `count` is a whole number from 0 on, `size` one from 1 on; a list holds all allowed texts. */
  readonly takes:
    | 'count'
    | 'size'
    | 'switch'
    | 'text'
    | 'rate'
    | 'clients'
    | 'object'
    | 'loopback'
    | readonly string[]
  /** Set where there is no flag for the command line. */
  readonly hasNoFlag?: true
  /** Set where the option has no effect after the start. */
  readonly isFixed?: true
}

/**
 * Throws a sentence that names the option and what was `given`, when the option does not take the
 * value.
 */
export function checkValue(
  name: string,
  { takes }: OptionFacts,
  value: unknown,
  given: unknown = value,
): void {
  if (fits(takes, value)) return
  throw new RangeError(`${name} takes ${wordsFor(takes)}, not ${JSON.stringify(given)}`)
}

/** What an option takes, in few words. */
export function wordsFor(takes: OptionFacts['takes']): string {
  return typeof takes === 'string' ? words[takes] : takes.join(' or ')
}

const words = {
  count: 'a whole number',
  size: 'a whole number from 1 on',
  switch: 'true or false',
  text: 'a text',
  rate: '10 or 10/50',
  clients: 'a list of clients',
  object: 'an object',
  loopback: 'an address such as http://127.0.0.1:8080',
} as const

function fits(takes: OptionFacts['takes'], value: unknown): boolean {
  if (typeof takes !== 'string') return takes.some((one) => one === value)
  if (takes === 'switch') return typeof value === 'boolean'
  if (takes === 'text') return typeof value === 'string'
  if (takes === 'clients') return areClients(value)
  if (takes === 'object') return isObject(value)
  if (takes === 'rate') return isRate(value)
  if (takes === 'loopback') return value === null || isLoopbackOrigin(value)
  return Number.isInteger(value) && Number(value) >= (takes === 'size' ? 1 : 0)
}

function isObject(value: unknown): boolean {
  return Object(value) === value && !Array.isArray(value)
}

function isRate(value: unknown): boolean {
  if (value === null) return true
  const { perSecond, bucket } = Object(value) as Record<string, unknown>
  return Number(perSecond) > 0 && Number(bucket) >= 1
}

function areClients(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0 && value.every(isClient)
}

function isClient(value: unknown): boolean {
  const { id, secret, scopes } = Object(value) as Record<string, unknown>
  const hasScopes = scopes === undefined || scopes === 'all' || Array.isArray(scopes)
  return typeof id === 'string' && typeof secret === 'string' && hasScopes
}

/** The options of webhooks by name, in the order in which `--help` shows them. */
const webhookOptionFacts: Readonly<Record<keyof WebhookOptions, OptionFacts>> = {
  eventShape: {
    text: 'body of an event: the record, or an envelope with `changeType` and `data`',
    takes: ['record', 'envelope'],
  },
  deleteEvent: {
    text: 'body of the event of a deletion, whatever the shape of the others: an envelope, its `data` alone (`changeVersion` and `id`), the last record with the status Deleted, or no event',
    takes: ['envelope', 'bare', 'record', 'none'],
  },
  webhookDays: { text: 'days from the creation of a webhook to its `validUntil`', takes: 'size' },
  validUntil: {
    text: 'form of `validUntil`: with Z, with +02:00, or with +02:00 and 7 digits of a second',
    takes: ['utc', 'offset', 'seven-digits'],
  },
  uninitializedMinutes: {
    text: 'minutes during which a new webhook is Uninitialized and has no events',
    takes: 'count',
  },
  webhookKeyName: { text: 'name of the private key in the answer to a creation', takes: 'text' },
  createdMembers: {
    text: 'more properties of the answer to a creation, before the private key, such as `{"keyId":"7"}`',
    takes: 'object',
    hasNoFlag: true,
  },
  webhookLimit: {
    text: 'how many webhooks of one collection there may be, also Disabled and expired ones: 409 beyond; 0 is any number',
    takes: 'count',
  },
  createdBody: {
    text: 'body of the answer to a creation: all properties, or the key and `validUntil` alone',
    takes: ['whole', 'key'],
  },
  createdLocation: {
    text: 'header `Location` of the answer to a creation, whatever it is elsewhere',
    takes: ['relative', 'absolute', 'none'],
  },
  expiredWebhook: {
    text: 'status of an expired webhook: Disabled, or what it was',
    takes: ['disabled', 'unchanged'],
  },
  deletedWebhook: {
    text: 'a deleted webhook: 404 and not in the list, readable by its id with `isDeleted`, listed too, or listed as Disabled without a mark, where a second DELETE succeeds',
    takes: ['hidden', 'readable', 'listed', 'disabled'],
  },
  retriedBody: {
    text: 'body of a retry: the record as it was at the change, or as it is at the retry',
    takes: ['snapshot', 'present'],
  },
  eventOrder: {
    text: 'newer events of a webhook while an older one waits for a retry: delivered, or held back',
    takes: ['free', 'held'],
  },
  deliveryConnections: { text: 'deliveries under way at once', takes: 'size' },
  deliverTo: {
    text: 'a loopback address to which destinations elsewhere are delivered, as by a proxy in front of a receiver; without one they are never sent',
    takes: 'loopback',
  },
}

/** What the texts leave open about writing, by option. */
const writeOptionFacts: Readonly<Record<keyof WriteOptions, OptionFacts>> = {
  secondValue: {
    text: 'a second value for a record that has one under the same reference name: takes its place, or is a 400',
    takes: ['replaces', 'conflict'],
  },
  unknownRecord: {
    text: 'a reference for an id that no record has: 404, 400, or accepted',
    takes: ['not-found', 'not-valid', 'accepted'],
  },
  deletedRecord: {
    text: 'a record that is deleted: keeps its custom references, whose values stay taken, or frees them',
    takes: ['keeps', 'frees'],
  },
  referenceList: {
    text: 'body of a list of references: a page, an array of all, or a map of names, values and ids',
    takes: ['page', 'array', 'map'],
  },
  referenceCase: {
    text: 'whether values of references that differ in case alone are different',
    takes: ['sensitive', 'insensitive'],
  },
  writtenText: {
    text: 'what the service makes of the texts that it is given, in bodies and in names and values of references: nothing, without blanks at the ends and with single ones between, composed characters (NFC), or small letters',
    takes: ['exact', 'trimmed', 'nfc', 'lower-case'],
  },
  leftOut: {
    text: 'the fields that the PUT of a job category leaves out, or sets to null',
    takes: ['emptied', 'kept'],
  },
  etags: {
    text: 'single records have an `ETag`, and the PUT of a job category heeds `If-Match`',
    takes: 'switch',
  },
  staleEtag: {
    text: 'a PUT whose `If-Match` names another version: 412 or 409',
    takes: ['precondition-failed', 'conflict'],
  },
  location: {
    text: 'form of the header `Location`',
    takes: ['relative', 'absolute'],
  },
}

/** Every option of the emulator by its name, in the order in which `--help` shows them. */
export const optionFacts: Readonly<Record<keyof EmulatorOptions, OptionFacts>> = {
  port: { text: 'port of the service; 0 takes any free one', takes: 'count', isFixed: true },
  controlPort: {
    text: 'port of the control endpoint; 0 takes any free one',
    takes: 'count',
    isFixed: true,
  },
  people: { text: 'number of people; 0 is an empty tenant', takes: 'count', isFixed: true },
  months: { text: 'months of dated records up to now', takes: 'count', isFixed: true },
  seed: { text: 'another seed is another tenant', takes: 'count', isFixed: true },
  now: { text: 'start of the virtual clock', takes: 'text', isFixed: true },
  dialect: {
    text: 'which text is followed where two differ: the documentation of the vendor, or the specification, which has fewer endpoints',
    takes: ['documentation', 'specification'],
    isFixed: true,
  },
  apiName: { text: 'name of the API in paths and scopes', takes: 'text', isFixed: true },
  tenant: { text: 'name of the tenant', takes: 'text', isFixed: true },
  environmentDomain: {
    text: 'domain of the environment that the configuration names, such as `myprotimesandbox.eu`; its addresses are those of this machine all the same',
    takes: 'text',
    isFixed: true,
  },
  clients: {
    text: 'clients with `id`, `secret` and `scopes`: names such as `people.read`, or `all` for everything; left out, a client reads every collection and nothing else',
    takes: 'clients',
    hasNoFlag: true,
  },
  pageSize: { text: 'records per page of a list', takes: 'size' },
  deltaPageSize: { text: 'changes per page of a delta; 0 puts all on one', takes: 'count' },
  paging: {
    text: 'what a continuation token of a list, or of the first phase of a delta, stands for: the last id of the page, a number of records that are passed over in the list of then (where one of them is deleted meanwhile, the record that follows the page is on no page), or the list as it was at its first page',
    takes: ['key', 'offset', 'snapshot'],
  },
  integerReference: {
    text: 'an integer at the end of a path, beside a reference of its own collection: a value of that reference, or an id; ` 7`, `+7` and `007` are 7 then',
    takes: ['value', 'id'],
  },
  usedDeltaLink: {
    text: 'a delta link that is asked a second time: answers with all changes since, 409 or 410',
    takes: ['answers', 'conflict', 'gone'],
  },
  secondStart: {
    text: 'a delta that is started while another of its collection is active: ends that one, or is a 409',
    takes: ['replaces', 'conflict'],
  },
  expiry: {
    text: 'what the 72 hours of a delta link count from: its last use, or when it was given',
    takes: ['last-use', 'age'],
  },
  leavingRow: {
    text: 'what a delta reports for a record that leaves the filter of its start',
    takes: ['delete', 'update', 'nothing'],
  },
  deltaFilterBound: {
    text: 'whether the filter of the start of a delta holds for the later changes too',
    takes: 'switch',
    hasNoFlag: true,
  },
  deltaLog: {
    text: 'a delta lists every change by itself, not the latest state of each record',
    takes: 'switch',
  },
  netDelta: {
    text: 'a delta leaves out a record that came and went since the link was given; without effect beside `deltaLog`',
    takes: 'switch',
  },
  plainDeltaItems: {
    text: 'inserted and updated items of a delta come as plain records',
    takes: 'switch',
  },
  staleDeletes: {
    text: 'a deleted item of a delta has a lower version than its record had',
    takes: 'switch',
  },
  rateLimit: {
    text: 'requests per second, and how many at once (10 or 10/50): 429 beyond; as JSON `perSecond`, `bucket` and `retryAfter` (false leaves the header out)',
    takes: 'rate',
  },
  latencyMs: { text: 'real milliseconds before each response', takes: 'count' },
  compress: { text: 'compress responses for clients that accept it', takes: 'switch' },
  byteOrderMark: {
    text: 'bodies of JSON begin with a byte order mark',
    takes: 'switch',
  },
  ...writeOptionFacts,
  ...webhookOptionFacts,
}

/** The flag of an option: `pageSize` is `--page-size`. */
export function flagOf(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}

/**
 * Options for a running emulator from unknown JSON, checked one by one; null clears `rateLimit` and
 * `deliverTo`. Throws a sentence for an unknown one, a wrong value, and one that is fixed at the start.
 */
export function liveOptions(given: Readonly<Record<string, unknown>>): EmulatorOptions {
  const entries = Object.entries(given).map(([name, value]) => {
    const facts = (optionFacts as Readonly<Record<string, OptionFacts>>)[name]
    if (!facts) throw new RangeError(`There is no option ${name}`)
    if (facts.isFixed) throw new RangeError(`${name} is fixed when the emulator starts`)
    checkValue(name, facts, value)
    return [name, value ?? undefined]
  })
  return Object.fromEntries(entries)
}
