/** Lines of aligned columns under a head: numbers to the right, texts to the left. */
export function table(head: readonly string[], rows: readonly (readonly unknown[])[]): string {
  const texts = rows.map((row) => row.map(cell))
  const widths = head.map((title, i) =>
    Math.max(title.length, ...texts.map((row) => row[i]?.length ?? 0)),
  )
  const isNumeric = head.map((_, i) => rows.every((row) => row[i] === null || isNumber(row[i])))
  const line = (cells: readonly string[]) =>
    cells
      .map((text, i) =>
        isNumeric[i] ? text.padStart(widths[i] ?? 0) : text.padEnd(widths[i] ?? 0),
      )
      .join('  ')
      .trimEnd()
  return [line(head), widths.map((width) => '-'.repeat(width)).join('  '), ...texts.map(line)].join(
    '\n',
  )
}

/** A whole number with thousands apart. */
export function grouped(number: number): string {
  return number.toLocaleString('en')
}

function isNumber(value: unknown): boolean {
  return typeof value === 'number' || typeof value === 'bigint'
}

function cell(value: unknown): string {
  if (value === null || value === undefined) return ''
  return isNumber(value) ? (value as number).toLocaleString('en') : String(value)
}
