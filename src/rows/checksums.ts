import { createHash, hash } from 'node:crypto'
import type { JsonSchema } from '../records/stream-spec.ts'
import type { Stream } from '../streams/collections.ts'
import { keyOf, readStreamSchema } from '../streams/streams.ts'
import type { Key } from './id-set.ts'

/** The separator of the parts of a summed text. */
const SEPARATOR = '\u001f'
/** The text for null. */
const NULL = '\u001e'
/** The squares of remainders by this prime distinguish sets of ids with the same sum. */
const PRIME = 1_000_003
/** This many squares of remainders add up to less than 2^53. */
const MOST_EXACT = 4096

/**
 * Two sums that do not depend on the order of the keys, as a text `a:b`. SQL computes the same sums: see
 * checksum-vectors.json.
 */
interface KeySum {
  add(keys: Uint32Array | readonly Key[]): void
  readonly text: string
}

/** For integers: `sum(id)` and `sum((id % 1000003) * (id % 1000003))`. */
export function createIntegerSum(): KeySum {
  let [ids, squares] = [0n, 0n]
  return {
    add(keys) {
      for (let from = 0; from < keys.length; from += MOST_EXACT) addSome(keys, from)
    },
    get text() {
      return `${ids}:${squares}`
    },
  }

  function addSome(keys: Uint32Array | readonly Key[], from: number): void {
    const end = Math.min(keys.length, from + MOST_EXACT)
    let [some, someSquares] = [0, 0]
    for (let i = from; i < end; i++) {
      const id = keys[i] as number
      const rest = id % PRIME
      someSquares += rest * rest
      // The sum so far, before it exceeds what a double can represent.
      if (some + id > Number.MAX_SAFE_INTEGER) {
        ids += BigInt(some)
        some = 0
      }
      some += id
    }
    ids += BigInt(some)
    squares += BigInt(someSquares)
  }
}

/** The first and the second 32 bits of a text's MD5. */
export type Digest = readonly [number, number]

export function digestOf(text: string): Digest {
  const bytes = hash('md5', text, 'buffer')
  return [bytes.readUInt32BE(0), bytes.readUInt32BE(4)]
}

/** For texts: the sums of both halves of their digests, exact for up to two million texts. */
export function createTextSum() {
  let [first, second] = [0, 0]
  return {
    add(text: string) {
      this.addDigest(digestOf(text))
    },
    addDigest(digest: Digest) {
      first += digest[0]
      second += digest[1]
    },
    get text() {
      return `${first}:${second}`
    },
  }
}

/** Whether the keys of a stream are integers, which are summed as numbers. */
export function hasIntegerKey(stream: Stream): boolean {
  return keyOf(stream).length === 1 && stream.nested !== 'activity_structures'
}

/** Creates the sum for the keys of a stream. */
export function createKeySum(stream: Stream): KeySum {
  if (hasIntegerKey(stream)) return createIntegerSum()
  const sum = createTextSum()
  return {
    add(keys) {
      for (const key of keys) sum.add(keyText(key))
    },
    get text() {
      return sum.text
    },
  }
}

/** The text of a key; for several columns, their values in order. */
export function keyText(key: Key): string {
  if (typeof key === 'number') return String(key)
  const value: unknown = JSON.parse(key)
  return Array.isArray(value) ? value.map(String).join(SEPARATOR) : String(value)
}

/** The types of single values, from the schema of their stream. */
export type ValueType = 'integer' | 'number' | 'boolean' | 'date' | 'text'

/** A number in the form that all databases can read; databases also differ in the forms of numbers. */
const NUMBER = /^-?\d{1,200}(\.\d+)?([eE][+-]?\d{1,2})?$/
/** For larger numbers, a double or a database's integer may not represent millionths. */
const LARGEST = 9_007_199_254

/** The text of a single value, as it is summed. A number that is invalid or above the limit counts as null. */
export function textOf(value: unknown, type: ValueType): string {
  if (value === undefined || value === null) return NULL
  if (type === 'date') return String(value).slice(0, 10)
  if (type !== 'number') return typeof value === 'object' ? JSON.stringify(value) : String(value)
  if (!NUMBER.test(String(value)) || Math.abs(Number(value)) > LARGEST) return NULL
  // Rounded explicitly, because databases differ in how they round halves.
  return String(Math.floor(Number(value) * 1e6 + 0.5))
}

type Fields = Readonly<Record<string, unknown>>

/**
 * A single value of a record that is summed. If a field has several spellings, the first one that is present is used.
 */
export interface SummedColumn {
  readonly paths: readonly (readonly string[])[]
  readonly type: ValueType
}

/** The columns that are summed, in the order of the schema: all except objects, arrays, the key and the version. */
export function summedColumns(stream: Stream): SummedColumn[] {
  const columns = new Map<string, SummedColumn>()
  for (const { paths, type } of below(readStreamSchema(stream.stream), [])) {
    const [path = []] = paths
    if (path.length === 1 && [...keyOf(stream), 'changeVersion'].includes(path[0] as string))
      continue
    const name = path.join('.').toLowerCase()
    const known = columns.get(name)
    columns.set(name, { type, paths: [...(known?.paths ?? []), ...paths] })
  }
  return [...columns.values()]
}

/** A name for the summed columns: equal names mean equal columns. */
export function columnsName(stream: Stream): string {
  const names = summedColumns(stream).map(
    ({ paths, type }) => `${paths.map((path) => path.join('.')).join('|')} ${type}`,
  )
  return createHash('md5').update(names.join('\n')).digest('hex').slice(0, 16)
}

/** The text of a row's version, as it is summed. */
export function versionText(key: Key, version: string, stream: Stream): string {
  return stream.versioned === false ? keyText(key) : `${keyText(key)}${SEPARATOR}${version}`
}

/** The text of a row's content, as it is summed: the result of `versionText`, then its columns. */
export function contentText(
  version: string,
  record: Fields,
  columns: readonly SummedColumn[],
): string {
  const values = columns.map(({ paths, type }) => textOf(firstOf(record, paths), type))
  return [version, ...values].join(SEPARATOR)
}

function firstOf(record: Fields, paths: SummedColumn['paths']): unknown {
  for (const path of paths) {
    const value = path.reduce<unknown>(
      (at, name) => (at as Fields | null | undefined)?.[name],
      record,
    )
    if (value !== undefined && value !== null) return value
  }
  return undefined
}

function below(schema: JsonSchema, path: readonly string[]): SummedColumn[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, inner]): SummedColumn[] => {
    const at = [...path, name]
    if (inner.properties !== undefined) return below(inner, at)
    const type = typeOf(inner)
    return type === undefined ? [] : [{ paths: [at], type }]
  })
}

function typeOf(schema: JsonSchema): ValueType | undefined {
  const types = [schema['type'] ?? []].flat().filter((type) => type !== 'null')
  if (types.includes('object') || types.includes('array')) return undefined
  if (types.includes('number')) return 'number'
  if (schema['format'] === 'date-time') return undefined
  if (schema['x-view'] === 'date' || schema['format'] === 'date') return 'date'
  if (types.includes('string')) return 'text'
  return types[0] === 'boolean' || types[0] === 'integer' ? types[0] : undefined
}
