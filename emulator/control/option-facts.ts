import type { EmulatorOptions, WebhookOptions, WriteOptions } from '../options.ts'
import { isLoopbackOrigin } from '../webhooks/delivery.ts'

/** The meaning and the values of one option; `resolveOptions` has its default. */
export interface OptionFacts {
  readonly text: string
  /** `count` is a whole number of at least 0, `size` one of at least 1; a list contains all allowed texts. */
  readonly takes:
    | 'count'
    | 'size'
    | 'switch'
    | 'text'
    | 'time'
    | 'rate'
    | 'clients'
    | 'loopback'
    | readonly string[]
  /** Set if the command line has no flag for it. */
  readonly hasNoFlag?: true
  /** Set if the option has no effect after the start. */
  readonly isFixed?: true
}

/**
 * Throws an error that names the option and what was `given`, if the option does not accept the value.
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

/** A short description of an option's values. */
export function wordsFor(takes: OptionFacts['takes']): string {
  return typeof takes === 'string' ? words[takes] : takes.join(' or ')
}

const words = {
  count: 'a whole number',
  size: 'a whole number from 1 on',
  switch: 'true or false',
  text: 'a text',
  time: 'a time such as 2026-11-20T03:00:00Z',
  rate: '10 or 10/50',
  clients: 'a list of clients',
  loopback: 'an address such as http://127.0.0.1:8080',
} as const

function fits(takes: OptionFacts['takes'], value: unknown): boolean {
  if (typeof takes !== 'string') return takes.some((one) => one === value)
  if (takes === 'switch') return typeof value === 'boolean'
  if (takes === 'text') return typeof value === 'string'
  if (takes === 'time') return value === null || isTime(value)
  if (takes === 'clients') return areClients(value)
  if (takes === 'rate') return isRate(value)
  if (takes === 'loopback') return value === null || isLoopbackOrigin(value)
  return Number.isInteger(value) && Number(value) >= (takes === 'size' ? 1 : 0)
}

function isTime(value: unknown): boolean {
  return typeof value === 'string' && !Number.isNaN(Date.parse(value))
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
    text: 'body of the event for a deletion, independent of the other events: an envelope, its `data` alone (`changeVersion` and `id`), the last record with the status Deleted, or no event',
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
  webhookKeyName: { text: 'name of the private key in the response to a creation', takes: 'text' },
  webhookLimit: {
    text: 'maximum number of webhooks per collection, including Disabled and expired ones: 409 beyond it; 0 is no limit',
    takes: 'count',
  },
  createdBody: {
    text: 'body of the response to a creation: all properties, or only the key and `validUntil`',
    takes: ['whole', 'key'],
  },
  expiredWebhook: {
    text: 'status of an expired webhook: Disabled, or unchanged',
    takes: ['disabled', 'unchanged'],
  },
  deletedWebhook: {
    text: 'a deleted webhook: 404 and not in the list, readable by its id with `isDeleted`, listed too, or listed as Disabled without a mark, where a second DELETE succeeds',
    takes: ['hidden', 'readable', 'listed', 'disabled'],
  },
  retriedBody: {
    text: 'body of a retry: the record at the time of the change, or at the time of the retry',
    takes: ['snapshot', 'present'],
  },
  eventOrder: {
    text: 'newer events of a webhook while an older one waits for a retry: delivered, or held back',
    takes: ['free', 'held'],
  },
  deliveryConnections: { text: 'maximum number of deliveries at the same time', takes: 'size' },
  deliverTo: {
    text: 'a loopback address that gets the deliveries to all other destinations, like a proxy in front of a receiver; without it, they are never sent',
    takes: 'loopback',
  },
}

/** The options for open questions about writing. */
const writeOptionFacts: Readonly<Record<keyof WriteOptions, OptionFacts>> = {
  secondValue: {
    text: 'a second value for a record under the same reference name: replaces the first, or is a 400',
    takes: ['replaces', 'conflict'],
  },
  unknownRecord: {
    text: 'a reference for an id that no record has: 404, 400, or accepted',
    takes: ['not-found', 'not-valid', 'accepted'],
  },
  deletedRecord: {
    text: 'a deleted record: keeps its custom references, so that their values stay taken, or frees them',
    takes: ['keeps', 'frees'],
  },
  referenceList: {
    text: 'body of a list of references: a page, an array with all, or a map of names, values and ids',
    takes: ['page', 'array', 'map'],
  },
  referenceCase: {
    text: 'whether values of references are different if only their case differs',
    takes: ['sensitive', 'insensitive'],
  },
  leftOut: {
    text: 'fields that the PUT of a job category leaves out, or sets to null',
    takes: ['emptied', 'kept'],
  },
  etags: {
    text: 'whether single records have an `ETag`, and how the PUT of a job category responds if its `If-Match` names another version: 412 or 409, or a weak one, which never matches',
    takes: ['none', 'precondition-failed', 'conflict', 'weak'],
  },
  location: {
    text: 'form of the header `Location`',
    takes: ['relative', 'absolute'],
  },
}

/** Every option of the emulator by its name, in the order in which `--help` shows them. */
export const optionFacts: Readonly<Record<keyof EmulatorOptions, OptionFacts>> = {
  port: { text: 'port of the service; 0 means any free port', takes: 'count', isFixed: true },
  controlPort: {
    text: 'port of the control endpoint; 0 means any free port',
    takes: 'count',
    isFixed: true,
  },
  people: { text: 'number of people; 0 is an empty tenant', takes: 'count', isFixed: true },
  months: { text: 'months of dated records up to now', takes: 'count', isFixed: true },
  seed: {
    text: 'seed of the random data; another seed makes another tenant',
    takes: 'count',
    isFixed: true,
  },
  now: { text: 'start of the virtual clock', takes: 'text', isFixed: true },
  dialect: {
    text: 'which text the emulator follows where the two differ: the documentation of the vendor, or the specification, which has fewer endpoints',
    takes: ['documentation', 'specification'],
    isFixed: true,
  },
  apiName: { text: 'name of the API in paths and scopes', takes: 'text', isFixed: true },
  tenant: { text: 'name of the tenant', takes: 'text', isFixed: true },
  clients: {
    text: 'clients with `id`, `secret` and `scopes`: names such as `people.read`, or `all` for everything; without `scopes`, a client can only read, every collection',
    takes: 'clients',
    hasNoFlag: true,
  },
  pageSize: { text: 'records per page of a list', takes: 'size' },
  deltaPageSize: { text: 'changes per page of a delta; 0 puts all on one page', takes: 'count' },
  listOrder: {
    text: 'order of the records of a list, and of the first phase of a delta: by id, by version (a change moves a record to the end), by date, or at random, in another order for each list',
    takes: ['id', 'version', 'date', 'random'],
  },
  paging: {
    text: 'what a continuation token of a list, or of the first phase of a delta, contains: the last record of the page; an offset in the order as it is then (if a record before it leaves or moves to the end, another one is on no page); or a snapshot of the list at its first page',
    takes: ['key', 'offset', 'snapshot'],
  },
  openRange: {
    text: 'a list of dates without a start or an end: counts from the first record or to today, or is a 400',
    takes: ['to-today', 'refused'],
  },
  integerReference: {
    text: 'how an integer at the end of a path is read if the request has a reference of the same collection: as a value of that reference, or as an id; then ` 7`, `+7` and `007` are 7',
    takes: ['value', 'id'],
  },
  deltaLinkCovers: {
    text: 'since when the delta link at the end of a first phase reports changes: since the start of the delta, or since the link was issued',
    takes: ['start', 'issued'],
  },
  usedDeltaLink: {
    text: 'a delta link that is requested a second time: responds with all changes since, only with those after the first response, 409 or 410',
    takes: ['answers', 'continues', 'conflict', 'gone'],
  },
  secondStart: {
    text: 'a delta that is started while another one of its collection is active: ends the other one, or is a 409',
    takes: ['replaces', 'conflict'],
  },
  expiry: {
    text: 'start of the 72 hours of a delta link: its last use, or its creation',
    takes: ['last-use', 'age'],
  },
  leavingRow: {
    text: 'what a delta reports for a record that no longer matches the filter of its start',
    takes: ['delete', 'update', 'nothing'],
  },
  deltaFilterBound: {
    text: 'whether the filter of the start of a delta also applies to later changes',
    takes: 'switch',
    hasNoFlag: true,
  },
  deltaLog: {
    text: 'a delta lists every change separately, not the latest state of each record',
    takes: 'switch',
  },
  deltaOrder: {
    text: 'order of the items on a page of a delta: by version, or the newest first; with `deltaLog`, a record that was deleted and is back has a Delete behind its newest state',
    takes: ['version', 'reversed'],
  },
  netDelta: {
    text: 'a delta leaves out a record that was created and deleted since the link was issued; no effect with `deltaLog`',
    takes: 'switch',
  },
  plainDeltaItems: {
    text: 'inserted and updated items of a delta are plain records',
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
  dateHeader: {
    text: 'header `Date` of every response, such as `2150-01-01T00:00:00Z`, in place of the time of the virtual clock',
    takes: 'time',
  },
  jsonSpelling: {
    text: 'spelling of JSON in bodies: compact, or with spaces, escapes and an order of members that differ in each response',
    takes: ['compact', 'varied'],
  },
  ...writeOptionFacts,
  ...webhookOptionFacts,
}

/** The flag of an option: `pageSize` is `--page-size`. */
export function flagOf(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}

/**
 * Options for a running emulator from unknown JSON, checked one by one; null clears `rateLimit`,
 * `deliverTo` and `dateHeader`. Throws an error for an unknown option, a wrong value, or an option that is fixed at the start.
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
