import type { Config } from '../config/config.ts'
import { addDays, type Day, dayOf, isDay } from '../ground/days.ts'
import { type Limit, mostOf } from '../ground/limit.ts'
import type { Key } from '../rows/id-set.ts'
import type { Stream } from '../streams/collections.ts'
import type { JsonForm } from './state-fields.ts'

/** How many rows a part of a stream had, and how many of them were deleted because no read found them, by day. */
interface Loss {
  /** With those that were deleted. */
  readonly rows: number
  readonly deleted: ReadonlyMap<Day, number>
}

/** Numbers of rows by the part of the stream: `external_references` has its collections, any other stream one part. */
export type PartCounts = ReadonlyMap<string, number>

/** What each part of a stream has lost of late because complete reads did not find it. */
export type Losses = ReadonlyMap<string, Loss>

/** The limit applies to all losses of this many days, so that small steps add up. */
const DAYS = 30

/** The losses of the last thirty days when a read begins, or goes on, that may find so many rows. */
export function lossesAt(now: Date, before: Losses | null, rows: PartCounts): Losses {
  const [first, last] = [addDays(dayOf(now), 1 - DAYS), addDays(dayOf(now), 1)]
  const parts = new Set([...rows.keys(), ...(before?.keys() ?? [])])
  return new Map(
    [...parts].map((part) => {
      // A later day is of another clock.
      const recent = [...(before?.get(part) ?? NOTHING).deleted].filter(
        ([day]) => day >= first && day <= last,
      )
      const deleted = new Map(recent)
      return [part, { rows: (rows.get(part) ?? 0) + sumOf(deleted), deleted }]
    }),
  )
}

/** The losses after so many more rows of each part were deleted. */
export function lossesWith(losses: Losses, missing: PartCounts, now: Date): Losses {
  const day = dayOf(now)
  const after = new Map(losses)
  for (const [part, count] of missing) {
    const { rows, deleted } = losses.get(part) ?? NOTHING
    const ofDay = (deleted.get(day) ?? 0) + count
    if (count > 0) after.set(part, { rows, deleted: new Map([...deleted, [day, ofDay]]) })
  }
  return after
}

const NOTHING: Loss = { rows: 0, deleted: new Map() }

/** A part of which more rows are missing than the limit allows. */
export interface Excess {
  readonly part: string
  readonly missing: number
  readonly rows: number
  readonly deleted: number
}

/** The first part of which so many more rows must not be deleted; undefined if there is none. */
export function excessOf(losses: Losses, missing: PartCounts, limit: Limit): Excess | undefined {
  for (const [part, count] of missing) {
    const { rows, deleted: byDay } = losses.get(part) ?? NOTHING
    const deleted = sumOf(byDay)
    // The limit may be lower than at earlier deletes.
    if (count > 0 && deleted + count > mostOf(rows, limit))
      return { part, missing: count, rows, deleted }
  }
  return undefined
}

/**
 * Whether the deletes of these rows of a stream were approved. An approval names the time since when deletes are withheld, so it
 * has no effect on later ones, nor on others.
 */
export function isApproved(
  rows: readonly Key[],
  state: WithheldRows & {
    readonly stream: Pick<Stream, 'stream'>
    readonly withheldSince: Date | null
  },
  { approvedDeletes }: Pick<Config, 'approvedDeletes'>,
): boolean {
  const { stream, withheldSince } = state
  const since = withheldSince?.toISOString()
  const areFew = approvedDeletes.some(
    (one) => one.stream === stream.stream && one.time === since && rows.length <= one.most,
  )
  return areFew && wereWithheld(rows, state)
}

interface WithheldRows {
  /** The rows whose deletes were withheld when the sync began. */
  readonly withheld: { has(key: Key): boolean }
}

/** Whether the deletes of all these rows were withheld when the sync began. Nobody who approved deletes knew of others. */
export function wereWithheld(rows: readonly Key[], { withheld }: WithheldRows): boolean {
  return rows.every((key) => withheld.has(key))
}

/** The collection of a reference. */
export function collectionOf(key: Key): string {
  return JSON.parse(String(key))[0]
}

/** Returns the part of a row by its key; undefined for a stream of one part. */
export function partsOf({ nested }: Stream): ((key: Key) => string) | undefined {
  return nested === 'referenced_collections' ? collectionOf : undefined
}

function sumOf(counts: PartCounts): number {
  return [...counts.values()].reduce((sum, count) => sum + count, 0)
}

/** How a state stores losses. */
export const LOSSES: JsonForm<Losses | null> = {
  toJson: (losses) =>
    losses && [...losses].map(([part, { rows, deleted }]) => [part, rows, ...deleted]),
  parse(json) {
    const parts = json as [string, number, ...[Day, number][]][]
    // Older states have one time for all losses.
    if (typeof parts[0] === 'string') return null
    const isWhole = parts.every(
      ([part, rows, ...deleted]) =>
        typeof part === 'string' &&
        rows >= 0 &&
        deleted.every(([day, count]) => isDay(day) && count > 0),
    )
    if (!isWhole) return undefined
    return new Map(
      parts.map(([part, rows, ...deleted]) => [part, { rows, deleted: new Map(deleted) }]),
    )
  },
}
