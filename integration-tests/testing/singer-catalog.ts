import type { Row } from './singer-messages.ts'

export interface CatalogEntry {
  readonly tap_stream_id: string
  readonly stream: string
  readonly schema: Schema
  readonly key_properties: readonly string[]
  readonly metadata: readonly { readonly breadcrumb: readonly string[]; readonly metadata: Row }[]
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
