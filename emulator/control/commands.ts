import type { Span } from '../clock.ts'
import { collections, referenceTargets } from '../collections/collections.ts'
import type { FailOptions, FaultKind, FaultOptions } from '../http/faults.ts'
import type { WantedChanges } from '../mutations/random-changes.ts'
import type { Fields, Id } from '../store/store.ts'
import {
  type DeliveryFaultKind,
  type DeliveryFaultOptions,
  deliveryFaultKinds,
} from '../webhooks/delivery.ts'
import type { Controls, WebhookChoice } from './controls.ts'
import { liveOptions } from './option-facts.ts'

/** One argument of a command: a property of the posted JSON object. */
export interface Argument {
  readonly takes: 'collection' | 'id' | 'text' | 'number' | 'object' | readonly (string | number)[]
  readonly text: string
  readonly isOptional?: true
}

/** The posted object; its properties have been checked against the arguments. */
type Given = Fields & { readonly collection: string; readonly id: Id; readonly path: string }

/** A command of the control endpoint. */
export interface Command {
  readonly text: string
  /** Left out if the command checks its properties itself. */
  readonly takes?: Readonly<Record<string, Argument>>
  /** An example for a tenant of the default size. */
  readonly example: Fields
  run(controls: Controls, given: Given): unknown
}

/** A view, which is read with GET. */
export interface View {
  readonly text: string
  /** The rest of the path, if the view has a collection. */
  readonly example?: string
  show(controls: Controls, collection: string): unknown
}

const number = (text: string): Argument => ({ takes: 'number', text, isOptional: true })
const ofCollection: Argument = {
  takes: 'collection',
  text: 'only those of this collection',
  isOptional: true,
}
const webhookId: Argument = {
  takes: 'text',
  text: 'only the webhook with this id',
  isOptional: true,
}

/** The commands for webhooks, by path. */
const webhookCommands: Readonly<Record<string, Command>> = {
  '/delivery-fault': {
    text: 'Makes deliveries to webhooks fail. An event is not sent (`lose`), sent more than once (`duplicate`), sent later (`delay`), or held until there are `times` events, which are then sent one by one from the newest to the oldest (`reorder`). The version in the body of an attempt has another digit than was signed (`tamper`), or the signature is by another key (`wrong-key`), with HMAC-SHA512 (`other-scheme`) or missing (`unsigned`). The answer to the creation of a webhook is sent after an event of its collection was delivered (`early`).',
    takes: {
      kind: { takes: deliveryFaultKinds, text: 'what goes wrong' },
      collection: ofCollection,
      times: number('how often; left out: until `/clear-faults`; `reorder` needs it'),
      skip: number('how many matching events pass first'),
      share: number('the share of matching events that fail, from 0 to 1; default 1'),
      copies: number('how many additional copies `duplicate` sends; default 1'),
      minutes: number('how many minutes later `delay` sends; default 1'),
      ms: number(
        'how many real milliseconds `early` waits for the answer to the delivery; default 1000',
      ),
    },
    example: { kind: 'lose', collection: 'clockings', share: 0.05 },
    run: (controls, { kind, ...options }) =>
      controls.deliveryFault(kind as DeliveryFaultKind, options as DeliveryFaultOptions),
  },
  '/disable-webhooks': {
    text: 'Gives webhooks the status Disabled, as failed retries do, and drops what waits for them.',
    takes: { id: webhookId, collection: ofCollection },
    example: { collection: 'people' },
    run: (controls, given) => controls.disableWebhooks(given as WebhookChoice),
  },
  '/expire-webhooks': {
    text: 'Ends the validity of webhooks now, and drops what waits for them.',
    takes: { id: webhookId, collection: ofCollection },
    example: { collection: 'people' },
    run: (controls, given) => controls.expireWebhooks(given as WebhookChoice),
  },
}

/** The views of webhooks, by name. */
const webhookViews: Readonly<Record<string, View>> = {
  webhooks: {
    text: 'every webhook since the start with its key, including deleted ones',
    show: (controls) => controls.webhooks(),
  },
  deliveries: {
    text: 'every delivery to a webhook with its status, its attempts, and when the next one is due',
    show: (controls) => controls.deliveries(),
  },
}

const collection: Argument = { takes: 'collection', text: 'such as `people`' }
const id: Argument = { takes: 'id', text: 'the id of a record' }
const record: Argument = {
  takes: 'object',
  text: 'properties of the record, including unknown ones; a number with more digits than a double can keep is written `{"$digits":"9007199254740993"}`',
}
const times: Argument = {
  takes: 'number',
  text: 'how often; left out: until `/clear-faults`',
  isOptional: true,
}
const skip: Argument = {
  takes: 'number',
  text: 'how many matching requests pass first',
  isOptional: true,
}
const method: Argument = {
  takes: ['GET', 'HEAD', 'POST', 'PUT', 'DELETE'],
  text: 'only requests with this method',
  isOptional: true,
}
const path: Argument = {
  takes: 'text',
  text: 'a path below the prefix of the API (`/people`, `/delta/people`) or `/connect/token`, including everything below it; with a question mark, the beginning of path and query',
  isOptional: true,
}
const pattern: Argument = {
  takes: 'text',
  text: 'instead of `path`: a regular expression for path and query',
  isOptional: true,
}
const wanted = (text: string): Argument => ({ takes: 'number', text, isOptional: true })

const effectMs: Argument = {
  takes: 'number',
  text: 'the service still executes the request, this many real milliseconds after the answer, or before it with 0; with `/fault` for `reset`, `html` and `hang`; left out: never',
  isOptional: true,
}

/** Every command by its path; their examples can be run in this order. */
export const commands: Readonly<Record<string, Command>> = {
  '/insert': {
    text: 'Adds a record; missing properties are invented. Returns the record.',
    takes: { collection, record: { ...record, isOptional: true } },
    example: { collection: 'jobs', record: { name: { default: 'Baker' } } },
    run: (controls, given) => controls.insert(given.collection, given['record'] as Fields),
  },
  '/update': {
    text: 'Changes a record; without a patch, any property. Returns the record.',
    takes: {
      collection,
      id,
      patch: { takes: 'object', text: 'the properties that change', isOptional: true },
    },
    example: { collection: 'people', id: 3, patch: { firstName: 'Ann' } },
    run: (controls, given) =>
      controls.update(given.collection, given.id, given['patch'] as Fields | undefined),
  },
  '/soft-delete': {
    text: 'Gives a record the status Deleted, in `clockings` and `activity-durations`.',
    takes: { collection, id },
    example: { collection: 'clockings', id: 2 },
    run: (controls, given) => controls.softDelete(given.collection, given.id),
  },
  '/remove': {
    text: 'Deletes a record.',
    takes: { collection, id },
    example: { collection: 'clockings', id: 1 },
    run: (controls, given) => controls.remove(given.collection, given.id),
  },
  '/restore': {
    text: 'Restores a whole record with its old id.',
    takes: { collection, record },
    example: {
      collection: 'clockings',
      record: { id: 1, date: '2026-11-19', person: { id: 3 }, kind: 'InOut', status: 'Active' },
    },
    run: (controls, given) => controls.restore(given.collection, given['record'] as Fields),
  },
  '/revert': {
    text: 'Gives a collection the content back that it had before its latest changes, like a service that is restored from a backup. Its records have their earlier versions, no delta and no webhook tells of it, and deltas forget these changes.',
    takes: { collection, changes: { takes: 'number', text: 'how many changes are undone' } },
    example: { collection: 'clockings', changes: 2 },
    run: (controls, given) => controls.revert(given.collection, Number(given['changes'])),
  },
  '/changes': {
    text: 'Makes many plausible changes in the whole tenant. Returns their numbers by collection.',
    takes: {
      inserts: wanted('number of records to add'),
      updates: wanted('number of records to change'),
      deletes: wanted('number of records to delete'),
      softDeletes: wanted('number of records that get the status Deleted'),
      seed: wanted('seed of the changes; default 1'),
    },
    example: { inserts: 20, updates: 20, deletes: 5, softDeletes: 5 },
    run: (controls, given) => controls.randomChanges(given as WantedChanges),
  },
  '/advance': {
    text: 'Moves the virtual clock ahead by the sum of the parts. Attempts of deliveries that are due by then are made in the order of their times. Then returns the new time.',
    takes: {
      minutes: wanted('minutes'),
      hours: wanted('hours'),
      days: wanted('days'),
    },
    example: { hours: 73 },
    async run(controls, given) {
      await controls.elapse(given as Span)
      return { now: controls.now() }
    },
  },
  '/fail': {
    text: 'Answers requests with a status instead of the service.',
    takes: {
      path,
      pattern,
      method,
      status: { takes: 'number', text: 'the status, such as 503' },
      times,
      skip,
      headers: { takes: 'object', text: 'headers of the response', isOptional: true },
      body: { takes: 'text', text: 'the body of the response', isOptional: true },
      effectMs,
    },
    example: { path: '/people', status: 429, times: 2, headers: { 'retry-after': '1' } },
    run: (controls, given) =>
      controls.fail(pathOf(given), Number(given['status']), given as FailOptions),
  },
  '/fault': {
    text: 'Makes requests fail. Failures of the connection: it breaks before the service has seen the request (`reset`), half of the body arrives and the connection is closed (`truncate`) or breaks (`half-then-reset`), it breaks after the service has handled the request (`after-last-byte`), the body arrives slowly (`slow`), an HTML page arrives with status 200 (`html`), or there is no response (`hang`). An answer without a body is not cut off. A proxy sends the request twice, and the client gets the second answer (`repeat`). Failures of lists, including those of references and webhooks, with status 200: the page lacks every second record, starting with the first (`short`), the page is empty and none follows (`empty`), or the page and those that follow it lack the latest changes of the collection, as on a replica that lags behind (`stale`; a delta that is started in this way reports these changes later). What a delta link does not report because it is `short` or `empty`, no later one reports.',
    takes: {
      path,
      pattern,
      method,
      kind: {
        takes: [
          ...['reset', 'truncate', 'half-then-reset', 'after-last-byte', 'slow', 'html', 'hang'],
          ...['repeat', 'short', 'empty', 'stale'],
        ],
        text: 'what goes wrong',
      },
      times,
      skip,
      afterBytes: wanted('how much of the body arrives; default half'),
      ms: wanted('how long a slow body takes in milliseconds; default 1000'),
      effectMs,
      changes: wanted(
        'how many changes of its collection are missing from a stale list; default 1',
      ),
    },
    example: { pattern: '^/clockings.*delta', kind: 'truncate', times: 1 },
    run: (controls, given) =>
      controls.fault(pathOf(given), given['kind'] as FaultKind, given as FaultOptions),
  },
  '/forbid': {
    text: 'Answers 403 to requests that read or write this single record or write a reference of it, like a service with access rights per record. Lists still contain the record.',
    takes: { collection, id },
    example: { collection: 'people', id: 4 },
    run: (controls, given) => controls.forbid(given.collection, given.id),
  },
  '/hide': {
    text: 'Hides people from all clients with everything that belongs to them, like a right that the clients have lost: lists, deltas and references lack them, and single records are missing (404). `/clear-faults` does not show them again.',
    takes: {
      every: {
        takes: 'number',
        text: 'hides those whose id can be divided by this number; 0 shows everybody again',
      },
    },
    example: { every: 2 },
    run: (controls, { every }) =>
      controls.hide((person) => Number(every) > 0 && person % Number(every) === 0),
  },
  ...webhookCommands,
  '/clear-faults': {
    text: 'Clears everything that `/fail`, `/fault`, `/forbid` and `/delivery-fault` have set, and sends what `reorder` holds back.',
    takes: {},
    example: {},
    run: (controls) => controls.clearFaults(),
  },
  '/expire-tokens': {
    text: 'Expires all access tokens: 401.',
    takes: {},
    example: {},
    run: (controls) => controls.expireTokens(),
  },
  '/expire-delta': {
    text: 'Expires the delta links of a collection, or all of them: 410.',
    takes: { collection: { ...collection, isOptional: true } },
    example: { collection: 'people' },
    run: (controls, given) => controls.expireDelta(given.collection),
  },
  '/expire-continuations': {
    text: 'Expires all continuation tokens that were issued so far.',
    takes: {
      status: {
        takes: [400, 409, 410],
        text: 'the status for them; default 409',
        isOptional: true,
      },
    },
    example: { status: 410 },
    run: (controls, given) =>
      controls.expireContinuations(given['status'] as 400 | 409 | 410 | undefined),
  },
  '/steal-delta': {
    text: 'Starts a delta like a second program with the same credentials; `secondStart` says what happens then.',
    takes: { collection },
    example: { collection: 'people' },
    run: (controls, given) => controls.stealDelta(given.collection),
  },
  '/options': {
    text: 'Changes options by their names, from the next request on. Returns all of them.',
    example: { pageSize: 10, usedDeltaLink: 'gone' },
    run: (controls, given) => Object.assign(controls.options, liveOptions(given)),
  },
}

/** Every view by its name. */
export const views: Readonly<Record<string, View>> = {
  all: {
    text: 'the records of a collection, without soft-deleted ones',
    example: 'people',
    show: (controls, collection) => controls.all(collection),
  },
  stored: {
    text: 'the same, including soft-deleted records',
    example: 'clockings',
    show: (controls, collection) => controls.stored(collection),
  },
  requests: {
    text: 'every request since the start, with its status',
    show: (controls) => controls.requests,
  },
  ...webhookViews,
  now: { text: 'the virtual time', show: (controls) => ({ now: controls.now() }) },
  config: { text: 'a configuration for the connector', show: (controls) => controls.config() },
}

/**
 * Runs the command of a path; throws an error with a sentence if an argument is wrong, missing or unknown.
 */
export function runCommand(controls: Controls, command: Command, given: unknown): unknown {
  const fields = Object(given) as Given
  if (command.takes) checkArguments(command.takes, fields)
  return command.run(controls, fields)
}

function checkArguments(takes: Readonly<Record<string, Argument>>, given: Fields): void {
  const known = Object.keys(takes)
  for (const one of Object.keys(given)) {
    if (known.includes(one)) continue
    throw new TypeError(`There is no argument ${one}, but ${known.join(', ') || 'none at all'}`)
  }
  for (const [one, argument] of Object.entries(takes)) {
    const value = given[one]
    if (value === undefined && argument.isOptional) continue
    if (value === undefined) throw new TypeError(`The argument ${one} is missing`)
    if (!fits(argument.takes, value))
      throw new TypeError(`${JSON.stringify(value)} is not a valid ${one}`)
  }
}

function fits(takes: Argument['takes'], value: unknown): boolean {
  if (takes === 'collection') return String(value) in { ...collections, ...referenceTargets }
  if (takes === 'id') return typeof value === 'string' || Number.isInteger(value)
  if (takes === 'number') return Number.isFinite(value)
  if (takes === 'text') return typeof value === 'string'
  if (takes === 'object') return Object(value) === value && !Array.isArray(value)
  return (takes as readonly unknown[]).includes(value)
}

function pathOf({ path, pattern }: Fields): string | RegExp {
  if (pattern !== undefined) return new RegExp(String(pattern))
  if (path === undefined) throw new TypeError('The argument path or pattern is missing')
  return String(path)
}
