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

/** The entities of the streams and how they are related, as Mermaid draws them, and a table of the same. */
export function dataModel(): string {
  const all = joins()
  const arrows = all.map(
    ({ stream, field, parent }) => `    ${parent} ||--o{ ${stream} : "${field}"`,
  )
  const rows = all.map(
    ({ stream, field, parent }) => `| \`${stream}\` | \`${field}\` | \`${parent}.id\` |`,
  )
  return [
    '```mermaid',
    'erDiagram',
    '    direction LR',
    ...arrows,
    '```',
    '',
    '| Stream | Field | Joins to |',
    '|---|---|---|',
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
