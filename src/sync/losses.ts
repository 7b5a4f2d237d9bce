import { isLongAgo } from '../ground/days.ts'
import { type Limit, mostOf } from '../ground/limit.ts'
import type { Key } from '../rows/id-set.ts'
import type { Stream } from '../streams/collections.ts'
import type { JsonForm } from './state-fields.ts'

/** How many rows a part of a stream had, and how many of them were deleted since because no read found them. */
interface Loss {
  readonly rows: number
  readonly deleted: number
}

/** Numbers of rows by the part of the stream: `external_references` has its collections, any other stream one part. */
export type PartCounts = ReadonlyMap<string, number>

/** What a stream has lost since a time because complete reads did not find it. */
export interface Losses {
  readonly since: Date
  readonly parts: ReadonlyMap<string, Loss>
}

/** The limit applies to all losses of this many days, so that small steps add up. */
const DAYS = 30

/** The losses so far when a read begins that may find so many rows; they are counted anew after thirty days. */
export function lossesAt(now: Date, before: Losses | null, rows: PartCounts): Losses {
  const goesOn = before !== null && !isLongAgo(before.since, DAYS, now)
  const known = goesOn ? before.parts : new Map<string, Loss>()
  const parts = new Map(known)
  for (const [part, count] of rows) {
    const { rows: most = 0, deleted = 0 } = known.get(part) ?? {}
    parts.set(part, { rows: Math.max(most, count), deleted })
  }
  return { since: goesOn ? before.since : now, parts }
}

/** The losses after so many more rows of each part were deleted. */
export function lossesWith({ since, parts }: Losses, missing: PartCounts): Losses {
  const more = [...missing].map(([part, count]): [string, Loss] => {
    const { rows, deleted } = parts.get(part) ?? NOTHING
    return [part, { rows, deleted: deleted + count }]
  })
  return { since, parts: new Map([...parts, ...more]) }
}

const NOTHING: Loss = { rows: 0, deleted: 0 }

/** A part of which more rows are missing than the limit allows. */
export interface Excess extends Loss {
  readonly part: string
  readonly missing: number
}

/** The first part of which so many more rows must not be deleted; undefined if there is none. */
export function excessOf({ parts }: Losses, missing: PartCounts, limit: Limit): Excess | undefined {
  for (const [part, count] of missing) {
    const loss = parts.get(part) ?? NOTHING
    // The limit may be lower than at earlier deletes.
    if (count > 0 && loss.deleted + count > mostOf(loss.rows, limit))
      return { part, missing: count, ...loss }
  }
  return undefined
}

/** The collection of a reference. */
export function collectionOf(key: Key): string {
  return JSON.parse(String(key))[0]
}

/** Returns the part of a row by its key; undefined for a stream of one part. */
export function partsOf({ nested }: Stream): ((key: Key) => string) | undefined {
  return nested === 'referenced_collections' ? collectionOf : undefined
}

export function sumOf(counts: PartCounts): number {
  return [...counts.values()].reduce((sum, count) => sum + count, 0)
}

/** How a state stores losses. */
export const LOSSES: JsonForm<Losses | null> = {
  toJson: (losses) =>
    losses && [
      losses.since.toISOString(),
      ...[...losses.parts].map(([part, { rows, deleted }]) => [part, rows, deleted]),
    ],
  parse(json) {
    const [time, ...stored] = json as [string, ...[string, number, number][]]
    const since = new Date(time)
    const parts = stored.map(([part, rows, deleted]) => [part, { rows, deleted }] as const)
    const isWhole = parts.every(
      ([part, { rows, deleted }]) => typeof part === 'string' && rows >= 0 && deleted >= 0,
    )
    return isWhole && !Number.isNaN(since.getTime()) ? { since, parts: new Map(parts) } : undefined
  },
}
