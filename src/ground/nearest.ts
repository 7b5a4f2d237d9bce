/** The name that a mistyped one was probably meant to be; undefined when none is like it. */
export function nearest(mistyped: string, names: Iterable<string>): string | undefined {
  const farthest = Math.max(1, Math.floor(mistyped.length / 3))
  const ranked = [...names]
    .map((name) => ({ name, edits: editsBetween(mistyped, name) }))
    .filter(({ edits }) => edits <= farthest)
    .sort((a, b) => a.edits - b.edits)
  return ranked[0]?.name
}

/** How many letters must be added, removed or replaced, or neighbours exchanged (optimal string alignment). */
function editsBetween(a: string, b: string): number {
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, j) => j)]
  const cell = (i: number, j: number) => rows[i]?.[j] ?? Number.POSITIVE_INFINITY
  for (let i = 1; i <= a.length; i++) {
    rows.push([i])
    for (let j = 1; j <= b.length; j++) {
      const isExchange = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      rows[i]?.push(
        Math.min(
          cell(i - 1, j) + 1,
          cell(i, j - 1) + 1,
          cell(i - 1, j - 1) + Number(a[i - 1] !== b[j - 1]),
          isExchange ? cell(i - 2, j - 2) + 1 : Number.POSITIVE_INFINITY,
        ),
      )
    }
  }
  return cell(a.length, b.length)
}
