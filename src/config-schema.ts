import { readProjectJson } from './project-files.ts'

/** A JSON Schema of settings, as far as the configuration walks it. */
export interface Schema {
  readonly [keyword: string]: unknown
  readonly type?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
  readonly oneOf?: readonly Schema[]
}

/** The schema of the configuration, from spec.json. */
export function configSchema(): Schema {
  const spec = readProjectJson('#spec') as { readonly connectionSpecification: Schema }
  return spec.connectionSpecification
}

/** The alternative of `environment` that a configuration names by its `type`. */
export function chosenEnvironment(schema: Schema, config: unknown): Schema | undefined {
  const environment = (config as { environment?: unknown } | null)?.environment
  const type = (environment as { type?: unknown } | null | undefined)?.type
  const options = schema.properties?.['environment']?.oneOf ?? []
  return options.find((option) => option.properties?.['type']?.['const'] === type)
}
