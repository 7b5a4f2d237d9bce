import { isJsonObject } from '../protocol/json.ts'

/** Longer values are cut. */
const LONGEST = 32
const GAP = 2

/**
 * Records, given as JSON texts, as a table that is not wider than `width`: a line per record, a column
 * per member, those of objects named `person.id`. Columns that do not fit are named below it.
 */
export function recordTable(records: readonly string[], width: number): string {
  const rows = records.map((record) => new Map(membersOf(JSON.parse(record) as object)))
  const names = [...new Set(rows.flatMap((row) => [...row.keys()]))]
  const columns = names.map((name) => [name, ...rows.map((row) => row.get(name) ?? '')])
  const widths = columns.map((cells) => Math.max(...cells.map(widthOf)))
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

function membersOf(value: object, at = ''): [string, string][] {
  return Object.entries(value).flatMap(([name, member]): [string, string][] => {
    const path = `${at}${name}`
    return isJsonObject(member) ? membersOf(member, `${path}.`) : [[path, shown(member)]]
  })
}

function shown(value: unknown): string {
  if (value === null || value === undefined) return ''
  const text = (typeof value === 'string' ? value : JSON.stringify(value)).replace(/\p{Cc}/gu, ' ')
  return [...text].length > LONGEST ? `${[...text].slice(0, LONGEST - 1).join('')}…` : text
}

function widthOf(text: string): number {
  return [...text].length
}

function padded(text: string, width: number): string {
  return text + ' '.repeat(width - widthOf(text))
}

/** One at least, however narrow the terminal is. */
function countOfFitting(widths: readonly number[], width: number): number {
  let used = 0
  for (const [i, one] of widths.entries()) {
    used += one + GAP
    if (i > 0 && used > width) return i
  }
  return widths.length
}
