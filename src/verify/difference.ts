import type { StreamSpec } from '../records/stream-spec.ts'

/** A row that is not the same at the service and in the warehouse. No value of it is told. */
export interface Difference {
  readonly stream: string
  /** The key; of several columns a list, in which values of external references are `****`. */
  readonly key: unknown
  /**
   * `missing`: the warehouse has no row; `too many`: the service has no record, or another row has the key; `old`: the
   * row is of another version than the record; `changed`: the version is the same, and fields are others.
   */
  readonly difference: 'missing' | 'too many' | 'old' | 'changed'
  /** The fields that are others. */
  readonly fields?: readonly string[]
  /** The version of the record at the service. */
  readonly version?: string
  /** Set where a change since the last sync may be why: it counts once it is still there after the next one. */
  readonly pending?: true
}

/** What an earlier look found: whether it found the same, or another difference of the row. */
export interface Earlier {
  readonly streams: ReadonlySet<string>
  find(difference: Difference): 'same' | 'other' | undefined
}

/** Takes the lines that an earlier look printed; lines of any other kind are left out. */
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

/** A key as JSON: a number, a text, or a list of several columns, without the values of external references. */
export function printedKey(
  key: number | string,
  { key: columns }: Pick<StreamSpec, 'key'>,
): unknown {
  if (typeof key === 'number') return key
  const value: unknown = JSON.parse(key)
  if (!Array.isArray(value)) return value
  return value.map((part, i) => (columns[i] === 'value' ? '****' : part))
}
