/** A row that is not the same on both sides. */
export interface Difference {
  readonly stream: string
  /** The values of the primary key, as a text. */
  readonly id: string
  /** What differs, in words. */
  readonly what: string
}

/** A record of the service, or a row of the warehouse with the names of the service. */
export type Fields = Readonly<Record<string, unknown>>

/** What is to be compared: all that lives in the service, and all rows of the final table. */
export interface Sides {
  readonly stream: string
  readonly key: readonly string[]
  readonly service: Iterable<Fields>
  /** The rows as JSON texts. */
  readonly warehouse: AsyncIterable<string> | Iterable<string>
}

/**
 * Compares by content and in both directions: every property of every record. Properties that are
 * null count as absent, because a column does not know the difference.
 */
export async function compare({ stream, key, service, warehouse }: Sides): Promise<Difference[]> {
  const expected = new Map<string, string>()
  for (const record of service) expected.set(idOf(record, key), canonical(record))
  const differences: Difference[] = []
  const differ = (id: string, what: string) => differences.push({ stream, id, what })
  const seen = new Set<string>()
  for await (const text of warehouse) {
    const row = JSON.parse(text) as Fields
    const id = idOf(row, key)
    const wanted = expected.get(id)
    if (seen.has(id)) differ(id, 'is in the warehouse twice')
    else if (wanted === undefined) differ(id, 'is in the warehouse, but not in the service')
    else if (wanted !== canonical(row)) differ(id, whatDiffers(JSON.parse(wanted), row))
    seen.add(id)
  }
  for (const id of expected.keys()) {
    if (!seen.has(id)) differ(id, 'is in the service, but not in the warehouse')
  }
  return differences
}

/** JSON with the members of every object in the order of their names, without top-level nulls. */
export function canonical(record: Fields): string {
  const members = Object.entries(record).filter(([, value]) => value !== null)
  return JSON.stringify(sorted(Object.fromEntries(members)))
}

function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(sorted)
  const result: Record<string, unknown> = {}
  for (const name of Object.keys(value).sort()) result[name] = sorted((value as Fields)[name])
  return result
}

function idOf(record: Fields, key: readonly string[]): string {
  return key.map((column) => String(record[column])).join(', ')
}

function whatDiffers(wanted: Fields, row: Fields): string {
  const names = new Set([...Object.keys(wanted), ...Object.keys(row)])
  return [...names]
    .map((name) => [name, show(wanted[name]), show(row[name])] as const)
    .filter(([, service, warehouse]) => service !== warehouse)
    .map(
      ([name, service, warehouse]) =>
        `${name} is ${service} in the service and ${warehouse} in the warehouse`,
    )
    .join('; ')
}

function show(value: unknown): string {
  return JSON.stringify(sorted(value ?? null))
}
