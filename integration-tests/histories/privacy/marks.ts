import type { JsonSchema } from '../../../src/records/stream-spec.ts'
import { readStreamSchema } from '../../../src/streams/streams.ts'
import type { Extra } from './history.ts'

type Fields = Record<string, unknown>

/** Any value that `createMarks` makes, wherever it stands. */
const MARK = /mark-[0-9a-z]{6}x|(?<!\d)77\d{13}(?!\d)|(?<!\d)19\d\d-\d\d-\d\d/g
const FIRST_BIRTHDAY = Date.UTC(1901, 0, 2)
const DAY_MS = 86_400_000
/** Members that are not a value of a person, or are made by the service. */
const PLAIN = new Set([
  'id',
  'changeVersion',
  'externalReferences',
  'status',
  'date',
  'from',
  'until',
])

/** Values of which each occurs once in a history, so that its place tells where it comes from. */
export interface Marks {
  text(): string
  /** The members of a record of a stream, with a mark in each that takes a text or a number. */
  record(stream: string, extras: readonly Extra[]): Fields
}

export function createMarks(): Marks {
  let count = 0
  return { text, record }

  function text(): string {
    return `mark-${(++count).toString(36).padStart(6, '0')}x`
  }

  function number(): number {
    return 77_0000_0000_0000_0 + ++count
  }

  function birthday(): string {
    const day = new Date(FIRST_BIRTHDAY + ++count * DAY_MS).toISOString().slice(0, 10)
    return day.endsWith('-01-01') ? birthday() : day
  }

  function record(stream: string, extras: readonly Extra[]): Fields {
    const made = members(readStreamSchema(stream)) as Fields
    const objects = objectsIn(made)
    for (const extra of extras) {
      const at = objects[extra.at % objects.length] as Fields
      at[extra.name] = contentOf(extra)
    }
    return made
  }

  function members(schema: JsonSchema): Fields {
    const fields = Object.entries(schema.properties ?? {}).filter(([name]) => !PLAIN.has(name))
    const filled = fields.map(([name, field]) => [name, fill(field, name)] as const)
    // The service makes up what is left.
    return Object.fromEntries(filled.filter(([, value]) => value !== undefined))
  }

  function fill(field: JsonSchema, name: string): unknown {
    const types = [field['type']].flat()
    if (field.items !== undefined) return [fill(field.items, name), fill(field.items, name)]
    if (types.includes('object')) {
      if (field.properties === undefined) return { nl: text(), fr: text() }
      // The objects that references are of are the first ones of their collections.
      const hasNumber = [field.properties['id']?.['type']].flat().includes('integer')
      return { ...(hasNumber && { id: (count % 3) + 1 }), ...members(field) }
    }
    if (name === 'birthDate') return birthday()
    if (types.includes('boolean') || field['format'] === 'date') return undefined
    return types.includes('string') ? text() : number()
  }

  function contentOf({ form, inner }: Extra): unknown {
    if (form === 'text') return text()
    if (form === 'number') return number()
    const object = { [inner]: text(), plain: text(), deeper: { [inner]: [number()] } }
    return form === 'object' ? object : [object, text()]
  }
}

function objectsIn(value: unknown): Fields[] {
  if (Array.isArray(value)) return value.flatMap(objectsIn)
  if (typeof value !== 'object' || value === null) return []
  return [value as Fields, ...Object.values(value).flatMap(objectsIn)]
}

/** The marks in a text, or in the text forms of a value. */
export function marksIn(value: unknown): Set<string> {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return new Set(text.match(MARK) ?? [])
}
