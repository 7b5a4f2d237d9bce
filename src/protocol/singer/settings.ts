import { isJsonObject } from '../json.ts'
import type { SettingsSchema } from '../settings-schema.ts'
import { settingRows } from './setting-rows.ts'

/**
 * The settings that environment variables give, by the schema: with the prefix `TAP_X`, `TAP_X_USER`,
 * and nested ones joined (`TAP_X_LOGIN_TYPE`), which win over the object as a whole. What is not text is
 * read as JSON; what is not JSON stays text, and the validation says what was expected.
 */
export function settingsFromEnvironment(
  schema: SettingsSchema,
  prefix: string,
  environment: Readonly<Record<string, string | undefined>>,
): Record<string, unknown> {
  const settings: Record<string, unknown> = {}
  const members = [schema, ...(schema.oneOf ?? [])].flatMap(({ properties = {} }) =>
    Object.entries(properties),
  )
  for (const [name, property] of members) {
    const variable = `${prefix}_${name.toUpperCase()}`
    const text = environment[variable]
    const nested = settingsFromEnvironment(property, variable, environment)
    const given = text === undefined || text === '' ? [] : [settingOf(text, property)]
    const all = Object.keys(nested).length > 0 ? [...given, nested] : given
    if (all.length > 0) settings[name] = mergeSettings(all)
  }
  return settings
}

/**
 * The variables of the prefix that are no setting. `_LOG_LEVEL` and `_LOG_FORMAT` are for the log, and
 * Meltano begins its own with two underscores (`TAP_X__SELECT`).
 */
export function unknownVariables(
  schema: SettingsSchema,
  prefix: string,
  environment: Readonly<Record<string, string | undefined>>,
): string[] {
  const settings = settingRows(schema).map(({ path }) => path.toUpperCase().replaceAll('.', '_'))
  const known = new Set([...settings, 'LOG_LEVEL', 'LOG_FORMAT'].map((name) => `${prefix}_${name}`))
  return Object.keys(environment).filter(
    (name) => name.startsWith(`${prefix}_`) && !name.startsWith(`${prefix}__`) && !known.has(name),
  )
}

/** Several configurations as one: later ones win, objects are merged member by member. */
export function mergeSettings(configs: readonly unknown[]): unknown {
  return configs.reduce((merged, config) => mergeTwo(merged, config))
}

/**
 * The settings without members that are null or an empty text: with these a user of Meltano unsets
 * what another layer of its configuration gives, there being no other way.
 */
export function withoutUnset(settings: unknown): unknown {
  if (!isJsonObject(settings)) return settings
  return Object.fromEntries(
    Object.entries(settings)
      .filter(([, value]) => value !== null && value !== '')
      .map(([name, value]) => [name, withoutUnset(value)]),
  )
}

function mergeTwo(earlier: unknown, later: unknown): unknown {
  if (!isJsonObject(earlier) || !isJsonObject(later)) return later
  const merged = { ...earlier }
  for (const [name, value] of Object.entries(later)) {
    merged[name] = name in merged ? mergeTwo(merged[name], value) : value
  }
  return merged
}

function settingOf(text: string, { type }: SettingsSchema): unknown {
  if (type === 'string') return text
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
