import type { JsonSchema } from '../stream-spec.ts'
import type { Breadcrumb } from './catalog.ts'

/** Which members of an object stay, and which of those are looked into. */
export interface Projection {
  /**
   * Members that stay. Undefined keeps all; once one is deselected, only those that the schema knows
   * and the catalog selects: a field that nobody has documented yet may be what was to be left out.
   */
  readonly kept: ReadonlySet<string> | undefined
  /** Members whose value, an object or a list of objects, has members to leave out. */
  readonly nested: ReadonlyMap<string, Projection>
}

/** What a selection leaves of a schema; undefined when it leaves everything. */
export function projectionOf(
  schema: JsonSchema,
  isSelected: (breadcrumb: Breadcrumb) => boolean,
  at: Breadcrumb = [],
): Projection | undefined {
  const members = Object.entries(schema.properties ?? {})
  const field = (name: string) => [...at, 'properties', name]
  const kept = members.filter(([name]) => isSelected(field(name)))
  const nested = new Map<string, Projection>()
  for (const [name, property] of kept) {
    const inside =
      projectionOf(property, isSelected, field(name)) ??
      (property.items && projectionOf(property.items, isSelected, [...field(name), 'items']))
    if (inside !== undefined) nested.set(name, inside)
  }
  if (kept.length === members.length && nested.size === 0) return undefined
  const names = new Set(kept.map(([name]) => name))
  return { kept: kept.length === members.length ? undefined : names, nested }
}

/** The schema of what a projection leaves. */
export function projectSchema(schema: JsonSchema, projection: Projection | undefined): JsonSchema {
  if (projection === undefined) return schema
  const { properties, items, ...rest } = schema
  return {
    ...rest,
    ...(items === undefined ? {} : { items: projectSchema(items, projection) }),
    ...(properties === undefined ? {} : { properties: projectProperties(properties, projection) }),
  }
}

function projectProperties(properties: Properties, { kept, nested }: Projection): Properties {
  return Object.fromEntries(
    Object.entries(properties)
      .filter(([name]) => kept?.has(name) ?? true)
      .map(([name, property]) => [name, projectSchema(property, nested.get(name))]),
  )
}

type Properties = NonNullable<JsonSchema['properties']>

/**
 * The schema without columns whose names differ from an earlier one by case only: targets that fold
 * the case of names (target-duckdb) refuse the whole table. Records keep the member all the same.
 */
export function withoutTwins(schema: JsonSchema): JsonSchema {
  const taken = new Set<string>()
  const isFirst = (name: string) => taken.size < taken.add(name.toLowerCase()).size
  const properties = Object.entries(schema.properties ?? {}).filter(([name]) => isFirst(name))
  return { ...schema, properties: Object.fromEntries(properties) }
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const COLON = 0x3a

/**
 * The JSON text of an object with the members that a projection keeps. What stays is copied byte
 * for byte, so that numbers keep every digit. The text must be valid JSON: the page scanner has
 * checked it.
 */
export function projectJson(json: Uint8Array, projection: Projection): string {
  const bytes = Buffer.from(json.buffer, json.byteOffset, json.byteLength)
  return value(bytes, skipSpace(bytes, 0), projection).text
}

interface Value {
  readonly text: string
  /** The position behind the value. */
  readonly end: number
}

function value(bytes: Buffer, at: number, projection: Projection | undefined): Value {
  const first = String.fromCharCode(bytes[at] ?? 0)
  if (projection !== undefined && first === '{') return object(bytes, at, projection)
  if (projection !== undefined && first === '[') return list(bytes, at, projection)
  const end = endOfValue(bytes, at)
  return { text: bytes.toString('utf8', at, end), end }
}

function object(bytes: Buffer, start: number, { kept, nested }: Projection): Value {
  const members: string[] = []
  let at = skipSpace(bytes, start + 1)
  while (bytes[at] === QUOTE) {
    const nameEnd = endOfString(bytes, at)
    const nameText = bytes.toString('utf8', at, nameEnd)
    const name = JSON.parse(nameText) as string
    const colon = skipSpace(bytes, nameEnd)
    if (bytes[colon] !== COLON) throw new SyntaxError('not a member of an object')
    const member = value(bytes, skipSpace(bytes, colon + 1), nested.get(name))
    if (kept?.has(name) ?? true) members.push(`${nameText}:${member.text}`)
    at = skipSpace(bytes, member.end)
    if (bytes[at] === COMMA) at = skipSpace(bytes, at + 1)
  }
  return { text: `{${members.join(',')}}`, end: at + 1 }
}

function list(bytes: Buffer, start: number, projection: Projection): Value {
  const items: string[] = []
  let at = skipSpace(bytes, start + 1)
  while (bytes[at] !== 0x5d) {
    const item = value(bytes, at, projection)
    items.push(item.text)
    at = skipSpace(bytes, item.end)
    if (bytes[at] === COMMA) at = skipSpace(bytes, at + 1)
  }
  return { text: `[${items.join(',')}]`, end: at + 1 }
}

function skipSpace(bytes: Buffer, from: number): number {
  let at = from
  while (bytes[at] === 0x20 || bytes[at] === 0x0a || bytes[at] === 0x0d || bytes[at] === 0x09) at++
  return at
}

function endOfString(bytes: Buffer, start: number): number {
  let at = start + 1
  while (at < bytes.length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1
  return at + 1
}

/** Brackets are counted and strings stepped over; anything else ends where a list or object continues. */
function endOfValue(bytes: Buffer, start: number): number {
  let depth = 0
  let at = start
  while (at < bytes.length) {
    const byte = bytes[at] as number
    if (byte === QUOTE) {
      at = endOfString(bytes, at)
      if (depth === 0) return at
      continue
    }
    const isOpening = byte === 0x7b || byte === 0x5b
    const isClosing = byte === 0x7d || byte === 0x5d
    if (depth === 0 && (isClosing || byte === COMMA || byte <= 0x20)) return at
    if (isOpening) depth++
    if (isClosing && --depth === 0) return at + 1
    at++
  }
  return at
}
