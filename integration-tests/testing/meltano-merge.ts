type Value = Readonly<Record<string, unknown>>

/**
 * How Meltano puts a partial state onto the one before it: objects are merged member by member,
 * everything else is replaced whole, and an object cannot be put onto null.
 */
export function meltanoMerge(partial: Value, state: Value): Value {
  const merged: Record<string, unknown> = { ...state }
  for (const [name, value] of Object.entries(partial)) {
    if (!isObject(value)) merged[name] = value
    else if (!(name in merged)) merged[name] = value
    else merged[name] = meltanoMerge(value, onto(merged[name], name))
  }
  return merged
}

function onto(value: unknown, name: string): Value {
  if (isObject(value)) return value
  throw new TypeError(`${name}: an object cannot be merged into ${JSON.stringify(value)}`)
}

function isObject(value: unknown): value is Value {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
