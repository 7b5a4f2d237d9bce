import type { ResolvedOptions } from '../options.ts'
import type { Change, StoredRecord } from '../store/store.ts'
import type { Delta, DeltaPosition } from './deltas.ts'

/** A change as a delta reports it: a record, or the id and version of a deleted one. */
export interface ChangeItem {
  readonly sequence: number
  readonly type: 'InsertOrUpdate' | 'Delete'
  readonly text: string
}

/**
 * What a delta reports of a collection's changes: the latest state of each changed id (with `deltaLog`
 * every change), ordered by version, from the position of the page on. A record is reported when the
 * filter of the start matches its latest state, or a state that the consumer may have seen.
 */
export function changesSince(
  history: readonly Change[],
  delta: Delta,
  { cursor, after, told }: DeltaPosition,
  options: ResolvedOptions,
): ChangeItem[] {
  const groups = new Map<unknown, Change[]>()
  for (const change of history.slice(firstAfter(history, cursor))) {
    const key = options.deltaLog ? change.sequence : change.id
    const group = groups.get(key)
    if (group) group.push(change)
    else groups.set(key, [change])
  }
  return [...groups.values()]
    .filter((group) => !options.netDelta || !cameAndWent(group, told))
    .map((group) => itemOf(group, delta, options))
    .filter((item) => item !== undefined)
    .filter(({ sequence }) => sequence > after)
    .sort((a, b) => a.sequence - b.sequence)
}

/** Whether a record is gone that the consumer cannot have been told of. */
function cameAndWent(group: readonly Change[], told: number): boolean {
  const [first] = group as readonly [Change]
  return first.before === undefined && first.sequence > told && group.at(-1)?.after === undefined
}

function itemOf(group: readonly Change[], delta: Delta, options: ResolvedOptions) {
  const last = group.at(-1) as Change
  const matches = (record: StoredRecord | undefined) =>
    record !== undefined && (!options.deltaFilterBound || delta.filter.matches(record))
  const seen = group.some(({ before, after }) => matches(before) || matches(after))
  if (!seen) return undefined
  if (matches(last.after)) return upsert(last)
  if (last.after === undefined) return gone(last, options)
  if (options.leavingRow === 'nothing') return undefined
  return options.leavingRow === 'update' ? upsert(last) : gone(last, options)
}

function upsert({ sequence, after }: Change): ChangeItem {
  return { sequence, type: 'InsertOrUpdate', text: after?.text ?? '' }
}

function gone({ sequence, version, id }: Change, { staleDeletes }: ResolvedOptions): ChangeItem {
  const changeVersion = staleDeletes ? '0'.repeat(version.length) : version
  return { sequence, type: 'Delete', text: JSON.stringify({ changeVersion, id }) }
}

function firstAfter(history: readonly Change[], cursor: number): number {
  let low = 0
  let high = history.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((history[middle] as Change).sequence <= cursor) low = middle + 1
    else high = middle
  }
  return low
}
