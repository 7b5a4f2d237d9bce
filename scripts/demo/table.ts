/** Lines of aligned columns under a head: columns of numbers to the right, others to the left. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, i) =>
    Math.max(...[title, ...column(rows, i)].map(({ length }) => length)),
  )
  const isNumeric = head.map((_, i) =>
    column(rows, i).every((cell) => /^(-?[\d,]+(\.\d+)?)?$/.test(cell)),
  )
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, i) =>
        isNumeric[i] ? cell.padStart(widths[i] ?? 0) : cell.padEnd(widths[i] ?? 0),
      )
      .join('  ')
      .trimEnd()
  const rule = widths.map((width) => '-'.repeat(width)).join('  ')
  return [line(head), rule, ...rows.map(line)].join('\n')
}

/** A whole number with thousands apart. */
export function grouped(number: number): string {
  return number.toLocaleString('en')
}

function column(rows: readonly (readonly string[])[], i: number): string[] {
  return rows.map((row) => row[i] ?? '')
}
