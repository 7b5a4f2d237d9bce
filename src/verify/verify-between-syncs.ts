import type { Failure } from '../protocol/connector.ts'
import type { Found } from './compare-stream.ts'
import type { Difference } from './difference.ts'
import type { RowKey } from './row-digest.ts'
import { type Held, RowTable, type VerifiedStream } from './row-table.ts'
import type { Verified } from './verify.ts'

/**
 * A listing with failures may have left out a row, and a row may appear and disappear during it, so two comparisons
 * are made.
 */
const MOST_LOOKS = 2

export interface BetweenSyncsSettings {
  readonly streams: readonly VerifiedStream[]
  /** Brings the warehouse up to date; returns the failures. */
  readonly sync: () => Promise<readonly Failure[]>
  /** Reads the rows of these streams from the warehouse, or only the wanted ones. */
  readonly read: (
    streams: readonly VerifiedStream[],
    isWanted?: (stream: string, key: RowKey) => boolean,
  ) => Promise<Held>
  readonly verify: (
    streams: readonly VerifiedStream[],
    held: Held,
    found: Found,
  ) => Promise<Verified>
}

/** The result of the comparisons between syncs. */
export interface VerifiedBetweenSyncs extends Verified {
  readonly differences: readonly Difference[]
  /** The number of differences that the sync after a comparison explained. */
  readonly explained: number
}

interface Row {
  readonly key: RowKey
  readonly difference: Difference
}

/**
 * Compares a warehouse with a service whose records change: a sync, a listing, a sync. The service has reported no
 * change of a row that the second sync left unchanged, so the listing must have the same values as the warehouse.
 * Rows that differ are compared a second time in the same way, and are reported if they differ again.
 */
export async function verifyBetweenSyncs(
  settings: BetweenSyncsSettings,
): Promise<VerifiedBetweenSyncs> {
  const { sync, read, verify } = settings
  let { streams } = settings
  let rows: readonly Row[] | undefined
  let explained = 0
  let first: Verified | undefined
  let [requests, bytes] = [0, 0]
  let failures = await sync()
  for (let look = 0; look < MOST_LOOKS && failures.length === 0; look++) {
    const before = await read(streams)
    const { found, take } = createFindings(rows)
    const verified = await verify(streams, before, take)
    first ??= verified
    requests += verified.requests
    bytes += verified.bytes
    failures = [...verified.failures, ...(await sync())]
    const after = await read(
      streams.filter(({ name }) => found.has(name)),
      (stream, key) => found.get(stream)?.has(key) === true,
    )
    const all = [...found].flatMap(([stream, ofStream]) =>
      [...ofStream.values()].map((row) => ({ stream, row })),
    )
    const left = all.filter(({ stream, row }) => isSame(stream, row.key, before, after))
    explained += all.length - left.length
    rows = left.map(({ row }) => row)
    if (rows.length === 0) break
    const named = new Set(left.map(({ stream }) => stream))
    streams = streams.filter(({ name }) => named.has(name))
  }
  const nothing = { records: 0, notVerified: new Map<string, string>() }
  return {
    ...(first ?? nothing),
    failures,
    requests,
    bytes,
    explained,
    differences: (rows ?? []).map(({ difference: { pending: _, ...real } }) => real),
  }
}

/** Collects differences by stream and key; after an earlier comparison, only those of the same rows. */
function createFindings(earlier: readonly Row[] | undefined) {
  const places = earlier && new Set(earlier.map(placeOf))
  const found = new Map<string, Map<RowKey, Row>>()
  const take: Found = (difference, key) => {
    const row = { key, difference }
    if (places !== undefined && !places.has(placeOf(row))) return undefined
    const ofStream = found.get(difference.stream) ?? new Map<RowKey, Row>()
    found.set(difference.stream, ofStream.set(key, row))
    return undefined
  }
  return { found, take }
}

function placeOf({ key, difference }: Row): string {
  return JSON.stringify([difference.stream, key])
}

/** Whether the sync left a row unchanged. */
function isSame(stream: string, key: RowKey, before: Held, after: Held): boolean {
  return tableOf(before, stream).hasSame(key, tableOf(after, stream))
}

function tableOf(held: Held, stream: string): RowTable {
  const rows = held.get(stream)
  return rows !== undefined && 'table' in rows ? rows.table : new RowTable()
}
