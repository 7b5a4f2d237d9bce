import { isJsonObject } from '../ground/json.ts'
import { spelling } from '../ground/text.ts'
import type { JsonSchema } from '../records/stream-spec.ts'
import { referencedCollections, type Stream } from './collections.ts'
import { readStreamSchema, streams } from './streams.ts'

/** The names of the members that lead to the id of a person in the records of a stream, from the outermost one on. */
export type PersonPath = readonly [column: string, ...rest: string[]]

/** The collection of the people. */
export const PEOPLE = 'people'
/** The stream whose records lead to people only if their member `collection` says so. */
export const REFERENCES = 'external_references'

/** The streams whose records lead to a person, with the paths of the ids, by `x-meaning` in their schemas. */
export function personStreams(): ReadonlyMap<string, readonly PersonPath[]> {
  const all = [...streams.keys()].map((stream) => [stream, personPathsOf(stream)] as const)
  return new Map(all.filter(([, paths]) => paths.length > 0))
}

/** The paths of the ids of people in the records of a stream. */
export function personPathsOf(stream: string): readonly PersonPath[] {
  const meaning = stream === REFERENCES ? '{collection}.id' : `${PEOPLE}.id`
  return pathsIn(readStreamSchema(stream), meaning, [])
}

function pathsIn(
  { properties = {} }: JsonSchema,
  meaning: string,
  at: readonly string[],
): PersonPath[] {
  return Object.entries(properties).flatMap(([name, part]) => {
    const [column = name, ...rest] = [...at, name]
    const here: PersonPath[] = part['x-meaning'] === meaning ? [[column, ...rest]] : []
    return [...here, ...pathsIn(part, meaning, [column, ...rest])]
  })
}

/** The ids of a person's records, as texts, by the collections whose references are then the person's, too. */
export type OwnedIds = ReadonlyMap<string, ReadonlySet<string>>

/** The collections other than the people whose references are a person's, because their records are. */
export function ownedCollections(): readonly Stream[] {
  const referenced: readonly string[] = referencedCollections
  return [...streams.values()].filter(
    ({ collection, stream }) =>
      referenced.includes(collection) && stream !== PEOPLE && personPathsOf(stream).length > 0,
  )
}

/** The ids of the records of a collection to which a record leads by these paths, as texts; only references lead to others than people. */
export function personIdsIn(
  record: unknown,
  paths: readonly PersonPath[],
  collection = PEOPLE,
): string[] {
  if (!isJsonObject(record) || (record['collection'] ?? PEOPLE) !== collection) return []
  return paths
    .flatMap((path) => valuesAt(record, path))
    .flatMap((value) => (value === undefined || value === null ? [] : [String(value)]))
}

/** The values at a path, whatever the spelling of its names. */
function valuesAt(value: unknown, [name, ...rest]: readonly string[]): unknown[] {
  if (name === undefined) return [value]
  if (!isJsonObject(value)) return []
  return Object.entries(value).flatMap(([member, inner]) =>
    member === name || spelling(member) === spelling(name) ? valuesAt(inner, rest) : [],
  )
}
