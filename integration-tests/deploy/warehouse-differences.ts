import { discover } from '../../deploy/sync/source.ts'
import { compare, type Fields } from '../../scripts/demo/compare.ts'
import { openDestination } from '../../scripts/demo/destination.ts'

export interface Sides {
  /** The program `source-protime` and a configuration file: what streams there are. */
  readonly source: string
  readonly config: string
  /** The DuckDB file of `sync-protime`. */
  readonly warehouse: string
  /** All that the service holds of a stream. */
  readonly truth: (stream: string) => Promise<readonly Fields[]>
}

/** What a tenant's warehouse and its service have not in common, every field of every record. */
export async function warehouseDifferences(sides: Sides): Promise<string[]> {
  const destination = await openDestination(sides.warehouse)
  try {
    const differences: string[] = []
    for (const stream of await discover(sides.source, sides.config)) {
      const found = await compare({
        stream: stream.name,
        key: stream.source_defined_primary_key.map(([column = '']) => column),
        service: await sides.truth(stream.name),
        warehouse: destination.rows(stream),
      })
      differences.push(...found.map(({ id, what }) => `${stream.name} ${id}: ${what}`))
    }
    return differences
  } finally {
    destination.close()
  }
}
