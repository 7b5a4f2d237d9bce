import type { StreamSpec } from '../records/stream-spec.ts'

/** A row that differs between the service and the warehouse. It contains no values of the row, except for its key. */
export interface Difference {
  readonly stream: string
  /** The key. Several columns are an array, in which values of external references are `****`. */
  readonly key: unknown
  /**
   * The kind of difference.
   *
   * - `missing`: the warehouse has no row.
   * - `too many`: the service has no record, or another row has the same key.
   * - `old`: the row has another version than the record.
   * - `changed`: the version is the same, and other fields differ.
   */
  readonly difference: 'missing' | 'too many' | 'old' | 'changed'
  /** The fields that differ. */
  readonly fields?: readonly string[]
  /** The version of the record at the service. */
  readonly version?: string
  /**
   * Set if a change since the last sync may be the reason: it is a difference only if it is still there after the
   * next sync.
   */
  readonly pending?: true
}

/** The differences of an earlier comparison, in which the same or another difference of a row can be looked up. */
export interface Earlier {
  readonly streams: ReadonlySet<string>
  find(difference: Difference): 'same' | 'other' | undefined
}

/** Reads the differences that an earlier comparison printed; other lines are ignored. */
export function earlierOf(differences: Iterable<unknown>): Earlier {
  const found = new Map<string, Set<string>>()
  const streams = new Set<string>()
  for (const one of differences) {
    if (!isDifference(one)) continue
    streams.add(one.stream)
    const place = placeOf(one)
    found.set(place, (found.get(place) ?? new Set()).add(kindOf(one)))
  }
  return {
    streams,
    find(difference) {
      const kinds = found.get(placeOf(difference))
      if (kinds === undefined) return undefined
      return kinds.has(kindOf(difference)) ? 'same' : 'other'
    },
  }
}

function placeOf({ stream, key }: Difference): string {
  return JSON.stringify([stream, key])
}

function kindOf({ difference, version }: Difference): string {
  return `${difference} ${version ?? ''}`
}

function isDifference(value: unknown): value is Difference {
  const { stream, key, difference } = (value ?? {}) as Partial<Difference>
  return typeof stream === 'string' && key !== undefined && typeof difference === 'string'
}

/**
 * A key as a JSON value: a number, a string, or an array of several columns without the values of external
 * references.
 */
export function printedKey(
  key: number | string,
  { key: columns }: Pick<StreamSpec, 'key'>,
): unknown {
  if (typeof key === 'number') return key
  const value: unknown = JSON.parse(key)
  if (!Array.isArray(value)) return value
  return value.map((part, i) => (columns[i] === 'value' ? '****' : part))
}
