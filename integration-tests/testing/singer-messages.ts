import type {
  SingerMessage,
  SingerRow,
  SingerState,
} from '../../src/protocol/acceptance/messages.ts'

/** The last STATE of an output. */
export function lastState(messages: readonly SingerMessage[]): SingerState | undefined {
  const last = messages.findLast(({ type }) => type === 'STATE')
  return last?.type === 'STATE' ? last.value : undefined
}

interface CatalogEntry {
  readonly tap_stream_id: string
  readonly stream: string
  readonly schema: Schema
  readonly key_properties: readonly string[]
  readonly metadata: readonly {
    readonly breadcrumb: readonly string[]
    readonly metadata: SingerRow
  }[]
}

export interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
}

export interface Catalog {
  readonly streams: readonly CatalogEntry[]
}

/** A catalog that a runner would write: these streams and all their fields but some. */
export function selecting(
  streams: readonly string[],
  deselected: readonly string[][] = [],
): object {
  return {
    streams: streams.map((stream) => ({
      tap_stream_id: stream,
      stream,
      schema: {},
      metadata: [
        { breadcrumb: [], metadata: { selected: true } },
        ...deselected.map((breadcrumb) => ({ breadcrumb, metadata: { selected: false } })),
      ],
    })),
  }
}

/** Every field of a schema by its breadcrumb, nested ones and members of lists too. */
export function breadcrumbsOf(
  { properties = {}, items }: Schema,
  at: readonly string[] = [],
): string[][] {
  const inList = items === undefined ? [] : breadcrumbsOf(items, [...at, 'items'])
  const fields = Object.entries(properties).flatMap(([name, schema]) => {
    const breadcrumb = [...at, 'properties', name]
    return [breadcrumb, ...breadcrumbsOf(schema, breadcrumb)]
  })
  return [...fields, ...inList]
}
