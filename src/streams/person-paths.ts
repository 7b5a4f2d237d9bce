import { isJsonObject } from '../ground/json.ts'
import type { JsonSchema } from '../records/stream-spec.ts'
import { readStreamSchema, streams } from './streams.ts'

/** A place of the records of a stream where the id of a person can be. */
export interface PersonPath {
  /** The names of the members from the outermost one on; `*` stands for each item of a list. */
  readonly path: readonly [column: string, ...rest: string[]]
  /** The member `collection` of these records says to what the id belongs. */
  readonly isOfCollection: boolean
}

/** The collection of the people, and what its ids mean: `x-meaning` in the schemas. */
export const PEOPLE = 'people'
/** The stream whose records name the collection of what they lead to. */
export const REFERENCES = 'external_references'
const ID = `${PEOPLE}.id`
const ID_OF_COLLECTION = '{collection}.id'

/** The streams whose records lead to a person, with the places of the ids, as their schemas say it. */
export function personStreams(): ReadonlyMap<string, readonly PersonPath[]> {
  const all = [...streams.keys()].map((stream) => [stream, personPathsOf(stream)] as const)
  return new Map(all.filter(([, paths]) => paths.length > 0))
}

/** The places of the ids of people in the records of a stream. */
export function personPathsOf(stream: string): readonly PersonPath[] {
  return pathsIn(readStreamSchema(stream))
}

/** The places of the ids of people by a schema. */
export function pathsIn(schema: JsonSchema, at: readonly string[] = []): PersonPath[] {
  const members = Object.entries(schema.properties ?? {})
  const parts = [...members, ...(schema.items === undefined ? [] : [['*', schema.items] as const])]
  return parts.flatMap(([name, part]) => {
    const [column = name, ...rest] = [...at, name]
    const isOfCollection = part['x-meaning'] === ID_OF_COLLECTION
    const isHere = isOfCollection || part['x-meaning'] === ID
    const here: PersonPath[] = isHere ? [{ path: [column, ...rest], isOfCollection }] : []
    return [...here, ...pathsIn(part, [column, ...rest])]
  })
}

/** The ids of the people to whom a record leads, as texts. */
export function personIdsIn(record: unknown, paths: readonly PersonPath[]): string[] {
  return paths.flatMap(({ path, isOfCollection }) => {
    const isOther = isOfCollection && isJsonObject(record) && record['collection'] !== PEOPLE
    return isOther ? [] : valuesAt(record, path).map(String)
  })
}

function valuesAt(value: unknown, [name, ...rest]: readonly string[]): unknown[] {
  if (name === undefined) return value === null || value === undefined ? [] : [value]
  if (name === '*') return Array.isArray(value) ? value.flatMap((item) => valuesAt(item, rest)) : []
  return isJsonObject(value) ? valuesAt(value[name], rest) : []
}
