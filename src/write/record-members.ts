import { nearest } from '../ground/nearest.ts'
import { readProjectJson } from '../ground/project-files.ts'
import type { JsonSchema } from '../records/stream-spec.ts'
import { type ObjectName, objects } from './objects.ts'

type Data = Readonly<Record<string, unknown>>

/** A record under the names of its object's members, or why it cannot be told which member is which. */
export type NamedData = { readonly data: Data } | { readonly fault: string }

/**
 * A record with its members under the names of its object: databases fold the case of columns, and people write
 * them with underscores (`internalreference`, `INTERNAL_REFERENCE`). Columns for one member have to be equal.
 * An underscore at an end is part of the name: `_id` is the key of a table, and not `id`.
 */
export function withNames(data: Data, object: ObjectName): NamedData {
  const names = membersOf(object)
  // Without a prototype: a column __proto__ is a column, and gives the record no members.
  const renamed: Record<string, unknown> = Object.create(null)
  const sources = new Map<string, string>()
  for (const [column, value] of Object.entries(data)) {
    const name = names.get(fold(column)) ?? column
    const other = sources.get(name)
    if (other !== undefined && JSON.stringify(renamed[name]) !== JSON.stringify(value))
      return { fault: `The columns ${other} and ${column} both stand for ${name}, and differ.` }
    sources.set(name, column)
    renamed[name] = value
  }
  return { data: renamed }
}

/** A member that no object has, and the one that was probably meant. */
export interface UnknownMember {
  readonly name: string
  readonly meant: string | undefined
}

/** The members of a record, under the names of its object, that neither an object nor the stream has. */
export function unknownMembers(data: Data, object: ObjectName): readonly UnknownMember[] {
  const known = knownMembers(object)
  const missing = Object.keys(objects[object].properties).filter(
    (name) => !Object.hasOwn(data, name),
  )
  return Object.keys(data).flatMap((name) =>
    name.startsWith('_') || known.has(fold(name)) ? [] : [{ name, meant: meantBy(name, missing) }],
  )
}

/** Says which members of a record nobody knows. */
export function unknownInWords(members: readonly UnknownMember[]): string {
  const names = members.map(({ name, meant }) =>
    meant ? `${name} (did you mean ${meant}?)` : name,
  )
  return `No object has ${names.join(' or ')}.`
}

function meantBy(name: string, missing: readonly string[]): string | undefined {
  const meant = nearest(fold(name), missing.map(fold))
  return missing.find((one) => fold(one) === meant)
}

/** The names of an object's members by what columns of databases make of them. */
function membersOf(object: ObjectName): ReadonlyMap<string, string> {
  return new Map(Object.keys(objects[object].properties).map((name) => [fold(name), name]))
}

const KNOWN = new Map<ObjectName, ReadonlySet<string>>()

/** What can be written of any object, and what the stream of this one has besides. */
function knownMembers(object: ObjectName): ReadonlySet<string> {
  const known = KNOWN.get(object) ?? new Set(readMembers(object).map(fold))
  KNOWN.set(object, known)
  return known
}

function readMembers(object: ObjectName): readonly string[] {
  const { properties } = readProjectJson(`#schemas/${object}`) as JsonSchema
  return [
    ...Object.values(objects).flatMap((one) => Object.keys(one.properties)),
    ...Object.keys(properties ?? {}),
  ]
}

function fold(name: string): string {
  return name.replace(/(?<=[^_])_+(?=[^_])/g, '').toLowerCase()
}
