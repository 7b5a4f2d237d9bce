/** The parts of a settings' JSON Schema that the connector reads. */
export interface SettingsSchema {
  readonly title?: string
  readonly description?: string
  readonly type?: string
  readonly default?: unknown
  readonly required?: readonly string[]
  readonly airbyte_secret?: boolean
  readonly properties?: Readonly<Record<string, SettingsSchema>>
  readonly items?: SettingsSchema
  readonly oneOf?: readonly SettingsSchema[]
  readonly [keyword: string]: unknown
}

/** The values of all settings that the schema marks as secrets. The settings may be invalid. */
export function secretsOf(schema: SettingsSchema, settings: unknown): string[] {
  if (typeof settings === 'string')
    return schema.airbyte_secret === true && settings !== '' ? [settings] : []
  if (Array.isArray(settings))
    return settings.flatMap((item) => secretsOf(schema.items ?? {}, item))
  if (typeof settings !== 'object' || settings === null) return []
  const members = [schema, ...(schema.oneOf ?? [])].flatMap(({ properties = {} }) =>
    Object.entries(properties),
  )
  return members.flatMap(([name, member]) =>
    secretsOf(member, (settings as Record<string, unknown>)[name]),
  )
}
