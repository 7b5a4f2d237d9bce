import { compare } from '../../../scripts/demo/compare.ts'
import { keyOf, streams } from '../../../src/streams/streams.ts'
import type { Row, Tenant } from '../tenant.ts'
import type { Project } from './project.ts'
import type { Target } from './target.ts'

/** Columns that the tap or the target adds. */
const ADDED = /^(_sdc_.*|_generation)$/

/** What `compare` says of a row whose deletion was lost. */
const NOT_IN_THE_SERVICE = 'is in the warehouse, but not in the service'

/** Told per stream. */
const TOLD = 5

export interface Comparison {
  readonly target: Target
  readonly project: Project
  readonly tenant: Tenant
  /** Leaves out what the documented query on _generation finds, after a reading without a state. */
  readonly isWithoutGhosts?: boolean
  /** How often each stream has been loaded: so many deletions a target may have lost. */
  readonly loads: number
  /** Streams that are not read at present. */
  readonly except?: readonly string[]
}

/** What a target and the service have not in common, one sentence a row; each stream is a table. */
export async function storedDifferences(comparison: Comparison): Promise<string[]> {
  const { target, project, tenant, loads, isWithoutGhosts = false, except = [] } = comparison
  const tables = await target.tables(project)
  const unknown = [...tables.keys()].filter((name) => !tenant.streams.includes(name))
  const faults = unknown.map((name) => `there is a table ${name}, which is no stream`)
  for (const name of tenant.streams.filter((stream) => !except.includes(stream))) {
    const table = tables.get(name)
    const stream = streams.get(name)
    if (table === undefined || stream === undefined) {
      faults.push(`${name} has no table`)
      continue
    }
    const rows = isWithoutGhosts ? ofNewestGeneration(table) : table
    const live = rows.filter((row) => (row['_sdc_deleted_at'] ?? null) === null)
    const differences = await compare({
      stream: name,
      key: keyOf(stream),
      service: (await tenant.truth(name)).map(target.asStored),
      warehouse: live.map((row) => JSON.stringify(withoutAdded(row))),
    })
    const remaining = differences.filter(({ what }) => what === NOT_IN_THE_SERVICE)
    const isExcused = target.losesFirstDelete && remaining.length <= loads
    const told = isExcused ? differences.filter((one) => !remaining.includes(one)) : differences
    faults.push(...told.slice(0, TOLD).map(({ id, what }) => `${name} ${id} ${what}`))
  }
  return faults
}

/** The query of docs/singer.md: what a later complete reading did not send again is gone. */
function ofNewestGeneration(rows: readonly Row[]): readonly Row[] {
  const newest = rows.reduce((highest, row) => Math.max(highest, generation(row)), 0)
  return rows.filter((row) => generation(row) === newest)
}

function generation(row: Row): number {
  return Number(row['_generation'])
}

function withoutAdded(row: Row): Row {
  return Object.fromEntries(Object.entries(row).filter(([name]) => !ADDED.test(name)))
}
