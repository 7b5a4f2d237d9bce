import { isJsonObject } from '../../ground/json.ts'
import type { Mask } from '../../ground/mask.ts'
import { type SettingsSchema, secretsOf } from '../../ground/settings-schema.ts'
import { readJsonOption } from '../command-line.ts'
import type { Io } from '../program.ts'

/** One setting of a table. Nested settings have dotted names; alternatives follow one another. */
export interface SettingRow {
  readonly path: string
  readonly isRequired: boolean
  /**
   * The default as JSON in code quotes; if it differs between alternatives, each one with the alternatives that have
   * it. Empty if there is none.
   */
  readonly fallback: string
  readonly text: string
}

/** All settings of a schema, in its order. */
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

/** The settings of all alternatives, each once; if they differ, the text has those of each alternative. */
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

/** The default of all alternatives; if it differs, each default after the alternatives that have it. */
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

/** The value that selects an alternative. */
function choiceOf({ properties = {} }: SettingsSchema): string {
  return String(Object.values(properties).find((property) => property['const'])?.['const'] ?? '')
}

/** A row that selects the alternative gets its value before the text. */
function told(row: SettingRow, option: SettingsSchema, path: string): SettingRow {
  const value = option.properties?.[row.path.slice(path.length + 1)]?.['const']
  return value === undefined ? row : { ...row, text: `\`${String(value)}\`: ${row.text}` }
}

/**
 * Reads settings from environment variables, by the schema. With the prefix `TAP_X`, they are called `TAP_X_USER`;
 * names of nested settings are joined (`TAP_X_LOGIN_TYPE`) and override the whole object. Values of settings that are
 * not strings are parsed as JSON; if that fails, the text is kept, and the validation reports it.
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
 * The variables with the prefix that are no settings. `_LOG_LEVEL` and `_LOG_FORMAT` configure the log, and Meltano's
 * own variables have two underscores (`TAP_X__SELECT`).
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

/** Merges configurations: later ones win, and objects are merged member by member. */
export function mergeSettings(configs: readonly unknown[]): unknown {
  return configs.reduce((merged, config) => mergeTwo(merged, config))
}

/**
 * Removes settings that are null or an empty string: in Meltano this is the only way to unset a setting of another
 * layer of its configuration.
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

/** Where settings come from, apart from files. */
export interface SettingsSources {
  readonly schema: SettingsSchema
  /** The prefix of environment variables with settings. */
  readonly prefix: string
  readonly env: Io['env']
}

/**
 * Merges the settings of all --config options, of which later ones win; undefined if there are none. Their secrets
 * are masked from then on.
 */
export async function configOf(
  names: readonly string[],
  { schema, prefix, env }: SettingsSources,
  { mask }: { readonly mask: Mask },
): Promise<unknown> {
  if (names.length === 0) return undefined
  const files = names.filter((name) => name !== 'ENV')
  const configs = await Promise.all(files.map((name) => readJsonOption('--config', name)))
  // The environment overrides files, wherever `ENV` is among the options.
  if (names.includes('ENV')) {
    // The connector judges names that are no settings, wherever they come from.
    const others = unknownVariables(schema, prefix, env).map(
      (name) => [name.slice(prefix.length + 1).toLowerCase(), env[name]] as const,
    )
    configs.push(Object.fromEntries(others), settingsFromEnvironment(schema, prefix, env))
  }
  const config = withoutUnset(mergeSettings(configs))
  for (const secret of secretsOf(schema, config)) mask.add(secret)
  return config
}
