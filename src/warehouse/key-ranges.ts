import type { Landing } from './landing.ts'

/** DuckDB knows the lowest and the highest value of so many rows, and skips them if a range has none of their keys. */
const GROUP = 122_880
/** Groups overlap so much at most on average; otherwise each range would read most of the rows. */
const MOST_OVERLAP = 2

/** The lowest and the highest key of a group of rows. */
export interface Group {
  readonly low: bigint
  readonly high: bigint
}

/** A condition for a key, an expression. */
export type KeyRange = (key: string) => string

/** All keys. */
export const ALL: KeyRange = () => 'true'

/**
 * Divides the keys of two relations into ranges, so that joins of all rows, range by range, fit into memory: DuckDB would
 * write a single one to disk, which takes three times the CPU. Each key is in one range, also null. There is one range for
 * all if the rows are few, or if those of a relation do not lie in the order of their keys.
 */
export async function keyRanges(
  landing: Landing,
  key: string,
  [one, other]: readonly [string, string],
): Promise<readonly KeyRange[]> {
  const groups = await groupsOf(landing, one, key)
  if (groups.length < 2) return [ALL]
  return rangesOf(boundsOf(groups, await groupsOf(landing, other, key)))
}

/** The groups of a relation with the alias `one`, by their highest keys. */
async function groupsOf(landing: Landing, from: string, key: string): Promise<Group[]> {
  const rows = await landing.query(
    `SELECT min(grouped.key), max(grouped.key)
      FROM (SELECT ${key} AS key, row_number() OVER () // ${GROUP} AS number FROM ${from} AS one) AS grouped
      GROUP BY grouped.number HAVING min(grouped.key) IS NOT NULL ORDER BY 2`,
  )
  return rows.map(([low, high]) => ({ low: BigInt(String(low)), high: BigInt(String(high)) }))
}

/** The highest keys of all groups but the last; none if the groups of a relation overlap too much. */
export function boundsOf(groups: readonly Group[], others: readonly Group[]): readonly bigint[] {
  const bounds = [...new Set(groups.map(({ high }) => high))].slice(0, -1)
  const overlap = (all: readonly Group[]) =>
    bounds.reduce(
      (sum, bound) => sum + all.filter((one) => one.low <= bound && bound <= one.high).length,
      0,
    )
  const most = MOST_OVERLAP * bounds.length
  return overlap(groups) <= most && overlap(others) <= most ? bounds : []
}

/** The ranges between bounds, each of which belongs to the range below it. */
export function rangesOf(bounds: readonly bigint[]): readonly KeyRange[] {
  if (bounds.length === 0) return [ALL]
  return [...bounds, undefined].map((bound, i) => {
    const above = bounds[i - 1]
    return (key) => {
      if (above === undefined) return `(${key} <= ${bound} OR ${key} IS NULL)`
      return bound === undefined ? `${key} > ${above}` : `${key} > ${above} AND ${key} <= ${bound}`
    }
  })
}
