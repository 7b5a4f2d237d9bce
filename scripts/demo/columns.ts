/** Marks a row as deleted; it is no column of a final table, because deleted rows are not in it. */
export const DELETED_AT = '_ab_cdc_deleted_at'

/** A stream of a discovered catalog, as far as a destination looks at it. */
export interface CatalogStream {
  readonly name: string
  readonly json_schema: { readonly properties: Readonly<Record<string, PropertySchema>> }
  readonly default_cursor_field: readonly string[]
  readonly source_defined_primary_key: readonly (readonly string[])[]
}

/** The part of a property's JSON Schema that decides its column. */
export interface PropertySchema {
  readonly type?: string | readonly string[]
  readonly format?: string
}

/** A column of a final table. */
export interface Column {
  readonly name: string
  readonly property: string
  readonly type: string
}

/** The columns of a stream's final table, one per property, in the order of the schema. */
export function columnsOf(stream: CatalogStream): Column[] {
  const taken = new Set<string>()
  return Object.entries(stream.json_schema.properties)
    .filter(([property]) => property !== DELETED_AT)
    .map(([property, schema]) => ({
      name: freeName(property, taken),
      property,
      type: sqlType(schema),
    }))
}

/** The DuckDB type for a property: objects and lists stay JSON, mixtures with text become text. */
export function sqlType({ type = [], format }: PropertySchema): string {
  const types = [type].flat().filter((one) => one !== 'null')
  if (types.includes('string')) return format === 'date' && types.length === 1 ? 'DATE' : 'VARCHAR'
  const [first] = types
  if (types.length !== 1) return 'JSON'
  if (first === 'integer') return 'BIGINT'
  if (first === 'number') return 'DOUBLE'
  return first === 'boolean' ? 'BOOLEAN' : 'JSON'
}

// SQL does not tell names apart by case, and people have a countryISOCode and a countryIsoCode.
function freeName(property: string, taken: Set<string>): string {
  let name = property
  for (let n = 1; taken.has(name.toLowerCase()); n += 1) name = `${property}_${n}`
  taken.add(name.toLowerCase())
  return name
}
