import { offers } from '../../emulator/collections/collections.ts'
import type { Emulator } from '../../emulator/emulator.ts'
import type { Stream } from '../../src/streams/collections.ts'
import { oddValue } from './arbitrary-events.ts'
import { leavesSilently } from './comparison.ts'
import type { Change, Event, Size } from './history.ts'

type Fields = Record<string, unknown>

/** Half of the large one is more than the connector waits for whole. */
const TEXTS: Readonly<Record<Size, Fields>> = {
  small: {},
  medium: { comments: 'x'.repeat(150_000) },
  large: { comments: 'x'.repeat(8_600_000) },
}

/** Collections whose references come and go. */
const REFERENCED = ['people', 'jobs', 'work-locations']

/** The service's side of a history: carries out what happens to the tenant. */
export interface Tenant {
  happen(event: Event): void
  /**
   * The collections of which something is known to lists only: the delta is silent about a content that is restored, and
   * a link that covers what has changed since it was issued about what changed in its first phase. Until a first phase
   * begins anew.
   */
  readonly silent: ReadonlySet<string>
  /** The collections whose content was ever restored. */
  readonly restored: ReadonlySet<string>
}

export function createTenant(emulator: Emulator, streams: readonly Stream[]): Tenant {
  const removed = new Map<string, Fields[]>()
  /** Records that left a delta's window without a word: only their list can tell of them. */
  const unwatched = new Set<string>()
  /** The records of the list in progress so far, by collection. */
  const read = new Map<string, unknown[]>()
  /** The collections of which a first phase is in progress. */
  const loading = new Set<string>()
  const silent = new Set<string>()
  const restored = new Set<string>()
  /** The collections that have changed in a first phase. */
  const edited = new Set<string>()
  /** Whether a collection has changed since the last page of its first phase, which may be asked for again. */
  const changedSince = new Map<string, boolean>()
  emulator.onPage(({ collection, isDelta, isFirst, isLast, ids }) => {
    if (isFirst) read.set(collection, [])
    read.get(collection)?.push(...ids)
    if (!isDelta) return
    if (isFirst) for (const marks of [silent, edited]) marks.delete(collection)
    if (isLast && edited.has(collection) && seemsById(collection)) silent.add(collection)
    if (isLast) edited.delete(collection)
    if (!isFirst && isIssued() && changedSince.get(collection)) silent.add(collection)
    changedSince.delete(collection)
    if (isLast) changedSince.set(collection, false)
    loading[isLast ? 'delete' : 'add'](collection)
  })
  /** Rows of another order may have ids that rise by chance; then nothing shows that one has moved. */
  const seemsById = (collection: string) =>
    emulator.options.paging === 'offset' &&
    emulator.options.listOrder !== 'id' &&
    (read.get(collection) ?? []).every((id, i, ids) => i === 0 || Number(id) > Number(ids[i - 1]))
  const isIssued = () => emulator.options.deltaLinkCovers === 'issued'
  return { happen, silent, restored }

  function happen(event: Event): void {
    if (event.do === 'change') change(event.change)
    else if (event.do === 'advance') emulator.advance({ hours: event.hours })
    else if (event.do === 'expire-tokens') emulator.expireTokens()
    else if (event.do === 'expire-continuations') emulator.expireContinuations(event.status)
    else if (event.do === 'expire-delta') emulator.expireDelta(streamAt(event.stream).collection)
    else if (event.do === 'steal-delta') emulator.stealDelta(streamAt(event.stream).collection)
    else if (event.do === 'revert') revert(event.stream, event.changes)
    else if (event.do === 'date') showDate(event.to)
    else reference(event.pick, event.isRemoval)
  }

  /** Syncs then have only the time of this machine. Earlier than that of the service, it would set their cursors back. */
  function showDate(to: string | undefined): void {
    if (to === undefined || emulator.now().getTime() < Date.now()) emulator.options.dateHeader = to
  }

  function streamAt(stream: number): Stream {
    return streams[stream % streams.length] as Stream
  }

  function change(wanted: Change): void {
    const { collection, dateField, nested } = streamAt(wanted.stream)
    if (isIssued() && loading.has(collection)) silent.add(collection)
    if (loading.has(collection)) edited.add(collection)
    if (changedSince.has(collection)) changedSince.set(collection, true)
    if (nested === 'referenced_collections') reference(wanted.pick, wanted.kind === 'remove')
    else if (wanted.kind === 'restore') restore(collection, wanted.pick)
    else if (wanted.kind === 'insert') {
      const fields = dateField ? datesOf(collection, wanted.day) : {}
      emulator.insert(collection, { ...fields, ...TEXTS[wanted.size] })
    } else changeOne(wanted)
  }

  function changeOne(wanted: Exclude<Change, { kind: 'insert' | 'restore' }>): void {
    const { collection, dateField, softDelete } = streamAt(wanted.stream)
    const stored = emulator.stored(collection)
    const candidates = wanted.isRead
      ? stored.filter(({ id }) => read.get(collection)?.includes(id))
      : stored
    const record = picked(candidates, wanted.pick)
    if (record === undefined) return
    const id = record['id'] as number
    if (wanted.kind === 'update') emulator.update(collection, id)
    else if (wanted.kind === 'odd')
      emulator.update(collection, id, { [wanted.member]: oddValue(wanted) })
    else if (wanted.kind === 'move') {
      emulator.update(collection, id, dateField ? move(collection, record, wanted.day) : undefined)
    } else if (unwatched.has(`${collection} ${id}`)) return
    else if (wanted.kind === 'soft-delete' && softDelete) emulator.softDelete(collection, id)
    else remove(collection, record)
  }

  function remove(collection: string, record: Fields): void {
    emulator.remove(collection, record['id'] as number)
    removed.set(collection, [...(removed.get(collection) ?? []), record])
  }

  function restore(collection: string, pick: number): void {
    const gone = (removed.get(collection) ?? []).filter(
      ({ id }) => !emulator.stored(collection).some((record) => record['id'] === id),
    )
    const record = picked(gone, pick)
    const marked = emulator.stored(collection).find(({ status }) => status === 'Deleted')
    if (record !== undefined) emulator.restore(collection, record)
    else if (marked !== undefined) {
      emulator.update(collection, marked['id'] as number, { status: 'Active' })
    }
  }

  /** What a move changes; nothing is known of a row that is deleted softly and leaves silently. */
  function move(collection: string, record: Fields, days: number): Fields | undefined {
    const isSilent = leavesSilently({ emulator }) && days <= -300
    if (isSilent && record['status'] === 'Deleted') return undefined
    if (isSilent) unwatched.add(`${collection} ${record['id']}`)
    return datesOf(collection, days)
  }

  function datesOf(collection: string, days: number): Fields {
    const time = emulator.now().getTime() + days * 86_400_000
    const date = new Date(time).toISOString().slice(0, 10)
    return collection === 'assignments' ? { from: date, until: date } : { date }
  }

  /**
   * Nothing would ever tell of it where a collection has no list. A list without any row does not say that all of them are
   * gone, so one is added.
   */
  function revert(stream: number, changes: number): void {
    const { collection, nested } = streamAt(stream)
    const { dialect } = emulator.options
    if (nested === 'referenced_collections' || !offers(dialect, 'list', collection)) return
    emulator.revert(collection, changes)
    if (emulator.stored(collection).length === 0) emulator.insert(collection)
    for (const marks of [silent, restored]) marks.add(collection)
  }

  function reference(pick: number, isRemoval: boolean): void {
    const collection = REFERENCED[pick % REFERENCED.length] as string
    const id = (pick % 2) + 1
    if (isRemoval) emulator.removeReference(collection, 'payroll', `N${pick}`)
    else if (emulator.stored(collection).some((row) => row['id'] === id)) {
      emulator.setReference(collection, 'payroll', `N${pick}`, id)
    }
  }
}

function picked(records: readonly Fields[], pick: number): Fields | undefined {
  return records[pick % Math.max(1, records.length)]
}
