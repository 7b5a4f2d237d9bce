import type { Failure } from '../protocol/connector.ts'
import type { Found } from './compare-stream.ts'
import type { Difference } from './difference.ts'
import type { RowKey } from './row-digest.ts'
import { type Held, RowTable, type VerifiedStream } from './row-table.ts'
import type { Verified } from './verify.ts'

/** A reading that fails now and then may have left a row out, and a row may come and go while it runs: both look twice. */
const MOST_LOOKS = 2

export interface BetweenSyncsSettings {
  readonly streams: readonly VerifiedStream[]
  /** Brings the warehouse to the present; answers with what failed. */
  readonly sync: () => Promise<readonly Failure[]>
  /** What the warehouse holds of these streams, of the rows that are wanted. */
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

/** What two looks between syncs came to. */
export interface VerifiedBetweenSyncs extends Verified {
  readonly differences: readonly Difference[]
  /** How many differences the sync after the look explained. */
  readonly explained: number
}

interface Row {
  readonly key: RowKey
  readonly difference: Difference
}

/**
 * Compares a warehouse with a service that moves: a sync, a listing, a sync. A row that the second sync did not touch
 * has not changed since the first one, as far as the service has told, so the listing must show it as the warehouse
 * has it. What differs then is looked at once more in the same way, and is a difference when it is found again.
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

/** Collects differences by stream and key; where an earlier look had some, those of its rows alone. */
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

/** Whether the sync left a row as it was. */
function isSame(stream: string, key: RowKey, before: Held, after: Held): boolean {
  return tableOf(before, stream).hasSame(key, tableOf(after, stream))
}

function tableOf(held: Held, stream: string): RowTable {
  const rows = held.get(stream)
  return rows !== undefined && 'table' in rows ? rows.table : new RowTable()
}
