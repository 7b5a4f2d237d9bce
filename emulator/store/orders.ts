import type { ResolvedOptions } from '../options.ts'
import type { Records } from './store.ts'
import type { Id, StoredRecord } from './versions.ts'

/** The order of the records of a list, from its first page to its last. */
export interface Order {
  readonly by: ResolvedOptions['listOrder']
  /** Distinguishes the random orders: each list has its own. */
  readonly number: number
}

/** The place of a record in an order; records with the same rank are in the order of their ids. */
export interface Seat {
  readonly rank: string | number
  readonly id: Id
}

/** Records in the order of a list. */
export interface OrderedRecords {
  readonly length: number
  at(position: number): StoredRecord | undefined
  /** The position of the first record behind this seat. */
  after(seat: Seat): number
  /** The bytes of the texts of the records at these positions, with commas between. */
  parts(positions: readonly number[]): Buffer[]
}

/** Where a record is in an order. A record without a date comes before those with one. */
export function seatOf({ id, version, date }: StoredRecord, { by, number }: Order): Seat {
  if (by === 'version') return { rank: version, id }
  if (by === 'date') return { rank: date ?? '', id }
  return { rank: by === 'random' ? scattered(`${number} ${id}`) : 0, id }
}

/**
 * Puts records in the order of a list. Only the order by id, in which they are stored, costs nothing: any other one sorts
 * all of them.
 */
export function inOrder(records: Records, order: Order): OrderedRecords {
  if (order.by === 'id') {
    return {
      length: records.length,
      at: (position) => records.at(position),
      after: ({ id }) => records.after(id),
      parts: (positions) => records.parts(positions),
    }
  }
  const seats = records
    .map((record, position) => ({ ...seatOf(record, order), position }))
    .sort((one, other) => (isBefore(one, other) ? -1 : 1))
  const stored = (position: number) => seats[position]?.position as number
  return {
    length: records.length,
    at: (position) => (position < seats.length ? records.at(stored(position)) : undefined),
    after(seat) {
      const first = seats.findIndex((one) => isBefore(seat, one))
      return first < 0 ? seats.length : first
    },
    parts: (positions) => records.parts(positions.map(stored)),
  }
}

function isBefore(one: Seat, other: Seat): boolean {
  return one.rank === other.rank ? one.id < other.id : one.rank < other.rank
}

/** A number that looks random, and is always the same for a text (FNV-1a, then the finish of MurmurHash3). */
function scattered(text: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}
