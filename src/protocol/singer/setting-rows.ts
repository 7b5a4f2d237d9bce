import type { SettingsSchema } from '../settings-schema.ts'

/** One setting for a table; nested ones have dotted names, alternatives stand one below the other. */
export interface SettingRow {
  readonly path: string
  readonly isRequired: boolean
  /** The default as JSON in code quotes, with the alternatives that have it where they differ, or nothing. */
  readonly fallback: string
  readonly text: string
}

/** Every setting of a schema, in its order. */
export function settingRows(schema: SettingsSchema, prefix = ''): SettingRow[] {
  const required = schema.required ?? []
  return Object.entries(schema.properties ?? {}).flatMap(([name, property]) => {
    const path = `${prefix}${name}`
    const row: SettingRow = {
      path,
      isRequired: required.includes(name),
      fallback: property.default === undefined ? '' : `\`${JSON.stringify(property.default)}\``,
      text: property.description ?? '',
    }
    return [row, ...alternatives(property, path)]
  })
}

/** The members of all alternatives, each once; what differs between them is told of each. */
function alternatives({ oneOf = [] }: SettingsSchema, path: string): SettingRow[] {
  const rows = oneOf.flatMap((option) =>
    settingRows(option, `${path}.`).map((row) => ({
      ...told(row, option, path),
      option: choiceOf(option),
    })),
  )
  const paths = [...new Set(rows.map((row) => row.path))]
  return paths.flatMap((name) => {
    const same = rows.filter((row) => row.path === name)
    const [first] = same
    const join = (texts: readonly string[]) => [...new Set(texts)].filter(Boolean).join(' ')
    return first === undefined
      ? []
      : [
          {
            path: name,
            isRequired: first.isRequired,
            fallback: fallbacks(same),
            text: join(same.map(({ text }) => text)),
          },
        ]
  })
}

/** The default that all have, or each default after the alternatives that have it. */
function fallbacks(rows: readonly (SettingRow & { readonly option: string })[]): string {
  const all = [...new Set(rows.map(({ fallback }) => fallback))]
  if (all.length < 2) return all.join('')
  return all
    .filter(Boolean)
    .map((fallback) => {
      const options = rows.filter((row) => row.fallback === fallback).map(({ option }) => option)
      return `${options.map((option) => `\`${option}\``).join(', ')}: ${fallback}`
    })
    .join('; ')
}

/** The value by which an alternative is chosen. */
function choiceOf({ properties = {} }: SettingsSchema): string {
  return String(Object.values(properties).find((property) => property['const'])?.['const'] ?? '')
}

/** The row with the value that makes the alternative the chosen one before its meaning. */
function told(row: SettingRow, option: SettingsSchema, path: string): SettingRow {
  const value = option.properties?.[row.path.slice(path.length + 1)]?.['const']
  return value === undefined ? row : { ...row, text: `\`${String(value)}\`: ${row.text}` }
}
