/**
 * A record with its members under the names that are wanted: databases fold the case of columns, and people
 * write them with underscores (`internalreference`, `INTERNAL_REFERENCE`). A member that has a wanted name
 * already wins.
 */
export function withNames(
  data: Readonly<Record<string, unknown>>,
  names: readonly string[],
): Readonly<Record<string, unknown>> {
  const wanted = new Map(names.map((name) => [folded(name), name]))
  const renamed = Object.entries(data).map(([name, value]) => [
    wanted.get(folded(name)) ?? name,
    value,
  ])
  return { ...Object.fromEntries(renamed), ...data }
}

function folded(name: string): string {
  return name.replaceAll('_', '').toLowerCase()
}
