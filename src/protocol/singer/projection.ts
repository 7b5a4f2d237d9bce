import type { Breadcrumb, JsonSchema } from './catalog.ts'

/** Which members of an object stay: all but these are dropped whole, or looked into. */
export interface Projection {
  /** Members that are dropped. */
  readonly dropped: ReadonlySet<string>
  /** Members whose value, an object or a list of objects, has dropped members of its own. */
  readonly nested: ReadonlyMap<string, Projection>
}

/** What a selection leaves of a schema; undefined when it leaves everything. */
export function projectionOf(
  schema: JsonSchema,
  isSelected: (breadcrumb: Breadcrumb) => boolean,
  at: Breadcrumb = [],
): Projection | undefined {
  const dropped = new Set<string>()
  const nested = new Map<string, Projection>()
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const breadcrumb = [...at, 'properties', name]
    if (!isSelected(breadcrumb)) {
      dropped.add(name)
      continue
    }
    const inside =
      projectionOf(property, isSelected, breadcrumb) ??
      (property.items && projectionOf(property.items, isSelected, [...breadcrumb, 'items']))
    if (inside !== undefined) nested.set(name, inside)
  }
  return dropped.size === 0 && nested.size === 0 ? undefined : { dropped, nested }
}

/** The schema without what a projection drops. */
export function projectSchema(schema: JsonSchema, projection: Projection | undefined): JsonSchema {
  if (projection === undefined) return schema
  const { properties, items, ...rest } = schema
  return {
    ...rest,
    ...(items === undefined ? {} : { items: projectSchema(items, projection) }),
    ...(properties === undefined
      ? {}
      : {
          properties: Object.fromEntries(
            Object.entries(properties)
              .filter(([name]) => !projection.dropped.has(name))
              .map(([name, property]) => [
                name,
                projectSchema(property, projection.nested.get(name)),
              ]),
          ),
        }),
  }
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const COLON = 0x3a

/**
 * The JSON text of an object without the members that a projection drops. What stays is copied byte
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

function object(bytes: Buffer, start: number, { dropped, nested }: Projection): Value {
  const members: string[] = []
  let at = skipSpace(bytes, start + 1)
  while (bytes[at] === QUOTE) {
    const nameEnd = endOfString(bytes, at)
    const nameText = bytes.toString('utf8', at, nameEnd)
    const name = JSON.parse(nameText) as string
    const colon = skipSpace(bytes, nameEnd)
    if (bytes[colon] !== COLON) throw new SyntaxError('not a member of an object')
    const member = value(bytes, skipSpace(bytes, colon + 1), nested.get(name))
    if (!dropped.has(name)) members.push(`${nameText}:${member.text}`)
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

/** Brackets are counted and strings stepped over; anything else ends where a list or object goes on. */
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
