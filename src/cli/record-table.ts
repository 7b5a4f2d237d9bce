import { isJsonObject, tryParseExactly } from '../ground/json.ts'
import { clean } from '../ground/text.ts'

/** The width of a terminal that does not report it. */
export const WIDTH = 120
/** Longer values are cut, unless the table may be of any width. */
const LONGEST = 32
const GAP = 2

/** The width of a terminal; what is piped is not cut. */
export function widthOf({ isTTY, columns }: Pick<NodeJS.WriteStream, 'isTTY' | 'columns'>): number {
  return isTTY ? columns || WIDTH : Number.POSITIVE_INFINITY
}

/**
 * Records, given as JSON texts, as a table that is not wider than `width`: a row per record, a column per
 * member; members of objects have names such as `person.id`. Columns that do not fit are listed below the
 * table.
 */
export function recordTable(records: readonly string[], width: number): string {
  const rows = records.map((record) => new Map(membersOf(tryParseExactly(record) as object, width)))
  const names = [...new Set(rows.flatMap((row) => [...row.keys()]))]
  const columns = names.map((name) => [name, ...rows.map((row) => row.get(name) ?? '')])
  const widths = columns.map((cells) =>
    cells.reduce((most, cell) => Math.max(most, lengthOf(cell)), 0),
  )
  const fitting = countOfFitting(widths, width)
  const lines = [undefined, ...rows].map((_, line) =>
    columns
      .slice(0, fitting)
      .map((cells, i) => padded(cells[line] ?? '', widths[i] ?? 0))
      .join(' '.repeat(GAP))
      .trimEnd(),
  )
  const left = names.slice(fitting)
  if (left.length > 0)
    lines.push(`and ${left.length} more column${left.length === 1 ? '' : 's'}: ${left.join(', ')}`)
  return lines.map((line) => `  ${line}`).join('\n')
}

function membersOf(value: object, width: number, at = ''): [string, string][] {
  return Object.entries(value).flatMap(([name, member]): [string, string][] => {
    const path = `${at}${clean(name, LONGEST)}`
    return isJsonObject(member)
      ? membersOf(member, width, `${path}.`)
      : [[path, shown(member, width)]]
  })
}

function shown(value: unknown, width: number): string {
  if (value === null || value === undefined) return ''
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return clean(text, Number.isFinite(width) ? LONGEST : text.length)
}

function lengthOf(text: string): number {
  return [...text].length
}

function padded(text: string, width: number): string {
  return text + ' '.repeat(width - lengthOf(text))
}

/** At least one, however narrow the terminal is. */
function countOfFitting(widths: readonly number[], width: number): number {
  let used = 0
  for (const [i, one] of widths.entries()) {
    used += one + GAP
    if (i > 0 && used > width) return i
  }
  return widths.length
}
