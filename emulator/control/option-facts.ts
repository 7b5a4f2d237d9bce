import type { EmulatorOptions } from '../options.ts'
import { checkValue, type OptionFacts } from './option-values.ts'
import { webhookOptionFacts } from './webhook-option-facts.ts'
import { writeOptionFacts } from './write-option-facts.ts'

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
  clients: {
    text: 'clients with `id`, `secret` and `scopes`: names such as `people.read`, or `all` for everything; left out, a client reads every collection and nothing else',
    takes: 'clients',
    hasNoFlag: true,
  },
  tokenSeconds: {
    text: 'lifetime of an access token in seconds of the virtual clock',
    takes: 'count',
  },
  pageSize: { text: 'records per page of a list', takes: 'size' },
  deltaPageSize: { text: 'changes per page of a delta; 0 puts all on one', takes: 'count' },
  openRange: {
    text: 'a filter on `date` with a start or an end alone, in a list of at most a year: answers when the range up to today, or from the first record, is no longer; or is refused with 400',
    takes: ['answers', 'refused'],
  },
  integerReference: {
    text: 'an integer at the end of a path, beside a reference of its own collection: a value of that reference, or an id',
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
