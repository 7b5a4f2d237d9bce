import { type Clock, daysBetween } from '../clock.ts'
import type { CollectionFacts } from '../collections/collections.ts'
import { collections, offers } from '../collections/collections.ts'
import { type ChangeItem, changesSince, type Delta, type DeltaPosition } from '../delta/deltas.ts'
import { checkFilter, everything, type Filter, parseFilter } from '../filter/check.ts'
import {
  json,
  notValid,
  ServiceError,
  type ServiceRequest,
  type ServiceResponse,
} from '../http/messages.ts'
import type { ResolvedOptions } from '../options.ts'
import { parsePairs, type ReferencePair } from '../references/references.ts'
import { inOrder, type Order, type Seat, seatOf } from '../store/orders.ts'
import type { Store, StoredRecord } from '../store/store.ts'
import { leftBy, pageBody, pageOfParts, takePage } from './bodies.ts'
import type { Service } from './service.ts'

/** A request for a list, with the part of the collection that its path names. */
export interface ListQuery {
  readonly request: ServiceRequest
  readonly client: string
  readonly collection: string
  /** Keeps the records below a nested path; left out for all. */
  readonly within?: (record: StoredRecord) => boolean
}

interface Wanted {
  readonly filter: Filter
  readonly pairs: readonly ReferencePair[]
  readonly within: (record: StoredRecord) => boolean
}

/**
 * Handles a list, or a page of the first phase of a delta: with `delta` or a delta token in the query.
 */
export function handleList(service: Service, query: ListQuery): ServiceResponse {
  const { parameters } = query.request
  const token = parameters.get('deltaToken')
  if (token !== undefined) return continueDelta(service, query, token)
  if (asksForDelta(parameters.get('delta'))) return startDelta(service, query)
  return plainList(service, query)
}

// The flag is documented without a value. True and false are accepted as well.
function asksForDelta(flag: string | undefined): boolean {
  if (flag === undefined || flag === 'false') return false
  if (flag === '' || flag === 'true') return true
  throw notValid(`delta is a flag: it may be true or false, not ${flag}`)
}

function plainList(service: Service, query: ListQuery): ServiceResponse {
  const { request, collection } = query
  if (!offers(service.options.dialect, 'list', collection)) {
    throw new ServiceError(404, `There is no list of ${collection}`)
  }
  const facts = factsOf(collection)
  const filter = readFilter(service, request, facts.listFilters)
  checkListDates(service, collection, filter)
  const pairs = parsePairs(request.parameters.get('externalReferences'), facts.references.list)
  return listPage(service, query, { filter, pairs, within: query.within ?? (() => true) })
}

function startDelta(service: Service, query: ListQuery): ServiceResponse {
  const { request, collection, client } = query
  const { options, clock, deltas } = service
  if (!offers(options.dialect, 'delta', collection)) {
    throw notValid(`${collection} has no delta`)
  }
  const facts = factsOf(collection)
  const filter = readFilter(service, request, facts.deltaFilters)
  checkDeltaDates(facts, filter, clock.today())
  const pairs = parsePairs(request.parameters.get('externalReferences'), facts.references.delta)
  const startedAt = sequenceOf(service, query)
  const { parameters } = request
  const delta = deltas.start({ client, collection, filter, pairs, parameters, startedAt })
  return listPage(service, query, { filter, pairs, within: () => true }, delta)
}

function continueDelta(service: Service, query: ListQuery, token: string): ServiceResponse {
  const { client, collection, request } = query
  const { delta } = service.deltas.resume({ client, collection, token, phase: 'load' })
  for (const name of ['filter', 'externalReferences']) {
    const given = request.parameters.get(name)
    if (given !== undefined && given !== delta.parameters.get(name)) {
      throw notValid(`${name} is not supported on the next link of a delta, but as the link has it`)
    }
  }
  return listPage(service, query, { ...delta, within: () => true }, delta)
}

function listPage(
  service: Service,
  query: ListQuery,
  wanted: Wanted,
  delta?: Delta,
): ServiceResponse {
  const { store, references, options, hiddenPeople } = service
  const { collection } = query
  const place = placeOf(service, query, delta)
  const { paging, order, after, passed, asOf } = place
  const matches = (record: StoredRecord) =>
    wanted.within(record) &&
    wanted.filter.matches(record) &&
    hiddenPeople.isShown(collection, record)
  const stored =
    paging === 'snapshot' ? store.recordsAt(collection, asOf) : store.records(collection)
  const records = inOrder(stored, order)
  const start = paging === 'offset' || after === undefined ? 0 : records.after(after)
  const skip = paging === 'offset' ? passed : 0
  const { positions, more } = takePage(records, { start, skip, size: options.pageSize }, matches)
  // A delta does not look beyond a full page, so it may end with an empty one.
  const hasNext = delta ? positions.length === options.pageSize : more
  const last = records.at(positions.at(-1) ?? records.length)
  const next = last && { ...place, after: seatOf(last, order), passed: passed + positions.length }
  const { listFault } = query.request
  const links =
    hasNext && next && listFault?.kind !== 'empty'
      ? { nextLink: nextLink(service, query, next, delta) }
      : end(service, delta)
  const shown = leftBy(listFault, positions)
  for (const listener of service.pageListeners) {
    listener({
      collection,
      isDelta: delta !== undefined,
      isFirst: after === undefined,
      isLast: !('nextLink' in links),
      ids: shown.flatMap((position) => records.at(position)?.id ?? []),
    })
  }
  if (wanted.pairs.length === 0) {
    return json(pageOfParts(records.parts(shown), links, options.dialect))
  }
  const decorated = (position: number) =>
    references.decorate(collection, records.at(position)?.text ?? '', wanted.pairs)
  return json(pageBody(shown.map(decorated), links, options.dialect))
}

/** The start of the next page of a list, for any way of paging. */
interface Place {
  /** The way in which the list is paged since its first page. */
  readonly paging: ResolvedOptions['paging']
  /** The order of its records since then. */
  readonly order: Order
  /** The place of the last record so far. */
  readonly after?: Seat
  /** How many records were on the pages so far. */
  readonly passed: number
  /** The latest change of the tenant at the first page. */
  readonly asOf: number
}

function placeOf(service: Service, query: ListQuery, delta?: Delta): Place {
  const { continuations, options } = service
  const { request, collection } = query
  const token = request.parameters.get('continuationToken')
  const asOf = sequenceOf(service, query)
  const isStale = request.listFault?.kind === 'stale'
  if (token === undefined) {
    const paging = isStale ? 'snapshot' : options.paging
    const order = { by: options.listOrder, number: request.number }
    return { paging, order, passed: 0, asOf: delta?.startedAt ?? asOf }
  }
  const { unknownToken } = factsOf(collection)
  const place = continuations.read(listOf(query, delta), token, unknownToken) as Place
  return isStale ? { ...place, paging: 'snapshot', asOf } : place
}

/** The latest change of the tenant that a list includes: a stale list lacks the last changes of its collection. */
function sequenceOf({ store }: Service, { request, collection }: ListQuery): number {
  const { listFault } = request
  if (listFault?.kind !== 'stale') return store.sequence()
  const changes = store.changes(collection)
  const missed = changes[Math.max(0, changes.length - listFault.changes)]
  return missed ? missed.sequence - 1 : store.sequence()
}

function nextLink(service: Service, query: ListQuery, place: Place, delta?: Delta) {
  const { path } = query.request
  const { parameters } = delta ?? query.request
  return service.links.to(path, [
    ['filter', parameters.get('filter')],
    ['externalReferences', parameters.get('externalReferences')],
    ['continuationToken', service.continuations.give(listOf(query, delta), place)],
    ['deltaToken', delta && service.deltas.token(delta, 'load', positionAfterLoad(service, delta))],
  ])
}

/** The owner of a continuation token: a path with its filter, or one delta. */
function listOf({ request: { path, parameters } }: ListQuery, delta?: Delta): string {
  return delta ? `${path} ${delta.id}` : `${path} ${parameters.get('filter') ?? ''}`
}

function end(service: Service, delta?: Delta) {
  if (!delta) return {}
  const position = positionAfterLoad(service, delta)
  const token = service.deltas.token(delta, 'changes', position)
  return { deltaLink: service.links.to(`/delta/${delta.collection}`, [['deltaToken', token]]) }
}

function positionAfterLoad({ store, options }: Service, { startedAt }: Delta): DeltaPosition {
  const now = store.sequence()
  const since = options.deltaLinkCovers === 'issued' ? now : startedAt
  return { cursor: since, after: since, told: now }
}

function readFilter(service: Service, request: ServiceRequest, allowed: readonly string[]): Filter {
  const text = request.parameters.get('filter')
  if (text === undefined) return everything
  if (allowed.length === 0) throw notValid('filter is not supported here')
  return checkFilter(parseFilter(text), allowed, service.personGroups)
}

function factsOf(collection: string): CollectionFacts {
  const facts = collections[collection]
  if (!facts) throw new ServiceError(404, `There is no collection ${collection}`)
  return facts
}

/**
 * Handles a delta link: the changes of one collection since the token was given, and the link for
 * later ones.
 */
export function handleDeltaLink(
  service: Service,
  { request, client, collection }: ListQuery,
): ServiceResponse {
  const { parameters } = request
  for (const name of ['filter', 'externalReferences', 'delta']) {
    if (parameters.has(name)) throw notValid(`${name} is not supported on a delta link`)
  }
  const token = parameters.get('deltaToken')
  if (token === undefined) throw notValid('deltaToken is required')
  const { store, options, hiddenPeople, deltas } = service
  const { delta, position: given } = deltas.resume({ client, collection, token, phase: 'changes' })
  const position = deltas.use(token, given, store.sequence())
  const changes = store
    .changes(collection, position.cursor)
    .filter(({ before, after }) =>
      [before, after].every((one) => one === undefined || hiddenPeople.isShown(collection, one)),
    )
  const items = changesSince(changes, delta, position, options)
  const size = options.deltaPageSize || items.length
  const taken = items.slice(0, size)
  const shown = options.deltaOrder === 'reversed' ? taken.toReversed() : taken
  // What a fault removes here is not reported by any later answer either.
  const texts = leftBy(request.listFault, shown).map((item) => write(service, delta, item))
  const links = linksAfter(service, delta, position, items.length > size ? taken : undefined)
  return json(pageBody(texts, links, options.dialect))
}

function linksAfter(
  service: Service,
  delta: Delta,
  { cursor, told }: DeltaPosition,
  page: readonly ChangeItem[] | undefined,
) {
  const now = service.store.sequence()
  const after = page?.at(-1)?.sequence ?? cursor
  const position = page
    ? { cursor, after, told: Math.max(told, after) }
    : { cursor: now, after: now, told: now }
  const token = service.deltas.token(delta, 'changes', position)
  const link = service.links.to(`/delta/${delta.collection}`, [['deltaToken', token]])
  return page ? { nextLink: link } : { deltaLink: link }
}

function write({ references, options }: Service, delta: Delta, { type, text }: ChangeItem): string {
  if (type === 'Delete') return `{"changeType":"Delete","data":${text}}`
  const data = references.decorate(delta.collection, text, delta.pairs)
  return options.plainDeltaItems ? data : `{"changeType":"${type}","data":${data}}`
}

// The documents do not say how a year is counted. 366 days are accepted, with both ends included, as in a leap year.
const yearInDays = 366

/** What the checks of a list's dates need. */
interface ListContext {
  readonly options: Pick<ResolvedOptions, 'openRange'>
  readonly clock: Clock
  readonly store: Store
}

/**
 * Checks the dates of a list: `date` is required, and where the collection says so, the range is at most one year. The
 * documents do not say how an open range is counted; here it ends today, or starts at the first record, unless it is refused.
 */
function checkListDates(
  { options, clock, store }: ListContext,
  collection: string,
  { start, end }: Filter,
): void {
  const facts = collections[collection]
  if (!facts?.dateField) return
  if (start === undefined && end === undefined) {
    if (facts.isDateOptional) return
    throw notValid('A filter on date is required')
  }
  checkOrder(start, end)
  if (options.openRange === 'refused' && (start === undefined || end === undefined)) {
    throw notValid('A range of date needs a start and an end')
  }
  if (!facts.yearOnly) return
  const last = end ?? clock.today()
  checkYear(start ?? firstDate(store.records(collection)) ?? last, last)
}

/**
 * Checks the dates of a delta: the start is in the past, and not before 1 January of last year; the end is at most one
 * year after it.
 */
function checkDeltaDates(facts: CollectionFacts, { start, end }: Filter, today: string): void {
  if (!facts.dateField) return
  if (start === undefined) {
    if (facts.isDateOptional) return
    throw notValid('A start (date ge) is required')
  }
  const earliest = `${Number(today.slice(0, 4)) - 1}-01-01`
  if (start >= today) throw notValid('The start date must be a past date')
  if (start < earliest) throw notValid(`The start date must not be before ${earliest}`)
  checkOrder(start, end)
  if (end !== undefined) checkYear(start, end)
}

function firstDate(records: Iterable<StoredRecord>): string | undefined {
  let first: string | undefined
  for (const { date } of records) {
    if (date !== undefined && (first === undefined || date < first)) first = date
  }
  return first
}

function checkOrder(start: string | undefined, end: string | undefined): void {
  if (start !== undefined && end !== undefined && end < start) {
    throw notValid('End date before start date')
  }
}

function checkYear(start: string, end: string): void {
  if (daysBetween(start, end) > yearInDays) throw notValid('The range of date exceeds 1 year')
}
