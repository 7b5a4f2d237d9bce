import { readProjectJson } from '../ground/project-files.ts'
import type { SettingsSchema } from '../ground/settings-schema.ts'

/** The schema of the configuration, from spec.json. */
export function configSchema(): SettingsSchema {
  const spec = readProjectJson('#spec') as { readonly connectionSpecification: SettingsSchema }
  return spec.connectionSpecification
}

/** The alternative of `environment` that a configuration selects with its `type`. */
export function chosenEnvironment(
  schema: SettingsSchema,
  config: unknown,
): SettingsSchema | undefined {
  const environment = (config as { environment?: unknown } | null)?.environment
  const type = (environment as { type?: unknown } | null | undefined)?.type
  const options = schema.properties?.['environment']?.oneOf ?? []
  return options.find((option) => option.properties?.['type']?.['const'] === type)
}
