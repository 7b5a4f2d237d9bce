import { streamOf, webhookCollections } from '../src/client/service-client.ts'
import type { JsonSchema } from '../src/records/stream-spec.ts'
import type { Stream } from '../src/streams/collections.ts'
import { readStreamSchema, streams } from '../src/streams/streams.ts'

/** A field that has the `id` of a record of another stream, or of another record of its own. */
interface Join {
  readonly stream: string
  /** Its path in a record; `[]` stands for the elements of a list. */
  readonly field: string
  readonly parent: string
}

/** All fields by which records can be joined, in the order of streams and schemas. */
export function joins(): Join[] {
  return [...streams.values()].flatMap(joinsOf)
}

/**
 * The stream whose `id` a field has: values that can be joined have the same meaning, and that of an id is
 * `<collection>.id`.
 */
export function parentOf(schema: JsonSchema, path: string): string | undefined {
  const meaning = schema['x-meaning']
  if (path === 'id' || typeof meaning !== 'string' || !meaning.endsWith('.id')) return undefined
  const stream = meaning.replace(/\.id$/, '').replaceAll('-', '_')
  return streams.has(stream) ? stream : undefined
}

/** The field that has the id of a person, in whatever stream: the page says so once. */
const PERSON = 'person.id'

/** The entities of the streams and how they are related, as Mermaid draws them, and a table of the other fields. */
export function dataModel(): string {
  const drawn = joins().filter(({ field }) => field !== PERSON)
  const arrows = drawn.map(({ stream, parent }) => `    ${parent} ||--o{ ${stream} : ""`)
  const rows = [...streams.values()].flatMap((stream) => {
    const others = joinsOf(stream).filter(({ field }) => field !== PERSON)
    const cells = others.map(({ field, parent }) => `\`${field}\` = \`${parent}.id\``)
    return cells.length === 0 ? [] : [`| \`${stream.stream}\` | ${cells.join('<br>')} |`]
  })
  return [
    '```mermaid',
    'erDiagram',
    '    direction LR',
    ...new Set(arrows),
    '```',
    '',
    '| Stream | Joins |',
    '|---|---|',
    ...rows,
  ].join('\n')
}

function joinsOf({ stream }: Stream): Join[] {
  return below(readStreamSchema(stream), [])

  function below(schema: JsonSchema, path: readonly string[]): Join[] {
    return Object.entries(schema.properties ?? {}).flatMap(([name, inner]): Join[] => {
      const at = [...path, inner.items === undefined ? name : `${name}[]`]
      const parent = parentOf(inner, at.join('.'))
      const own = parent === undefined ? [] : [{ stream, field: at.join('.'), parent }]
      return [...own, ...below(inner.items ?? inner, at)]
    })
  }
}

/** A schema of `schemas/`, with the keywords that say what its type is. */
interface TypeSchema {
  readonly type?: string | readonly string[]
  readonly description?: string
  readonly items?: TypeSchema
  readonly properties?: Readonly<Record<string, TypeSchema>>
  readonly required?: readonly string[]
}

/** The file with the types of the records that webhooks send. */
export const RECORD_TYPES = 'schemas/webhook-records.d.ts'

/** Fields that are an array in the stream, but may be a single object in an event. */
const ONE_OR_MORE: ReadonlySet<string> = new Set(['assignments.activityLevels'])

/** The records of all collections with webhooks, as TypeScript's types, made from their schemas. */
export function recordTypes(): string {
  const collections = webhookCollections.map((collection) => {
    const schema = readStreamSchema(streamOf(collection)) as TypeSchema
    return `${comment(schema.description, '  ')}  readonly '${collection}': ${typeOf(schema, '  ', collection)}\n`
  })
  return `// Made by \`npm run docs\` from the schemas beside it.

/**
 * The records that webhooks send, by the service's name of their collection. Any member but \`id\` can be missing,
 * and there can be others that are not documented.
 */
export interface Records {
${collections.join('\n')}}
`
}

function typeOf(schema: TypeSchema, indent: string, path: string): string {
  const names = [schema.type ?? 'object'].flat() as readonly string[]
  const types = names.map((name) => {
    if (name === 'integer') return 'number'
    if (name === 'array') return arrayOf(schema.items ?? {}, indent, path)
    return name === 'object' ? objectOf(schema, indent, path) : name
  })
  return types.join(' | ')
}

function arrayOf(items: TypeSchema, indent: string, path: string): string {
  const item = typeOf(items, indent, path)
  const list = `readonly ${item.includes(' | ') ? `(${item})` : item}[]`
  return ONE_OR_MORE.has(path) ? `${list} | ${item}` : list
}

function objectOf({ properties, required = [] }: TypeSchema, indent: string, path: string): string {
  if (properties === undefined) return 'Readonly<Record<string, unknown>>'
  const inner = `${indent}  `
  const members = Object.entries(properties).map(([name, schema]) => {
    const mark = required.includes(name) ? '' : '?'
    const type = typeOf(schema, inner, `${path}.${name}`)
    return `${comment(schema.description, inner)}${inner}readonly ${name}${mark}: ${type}\n`
  })
  return `{\n${members.join('')}${indent}}`
}

function comment(text: string | undefined, indent: string): string {
  return text === undefined ? '' : `${indent}/** ${text} */\n`
}
