import { isFields } from './subschemas.ts'
import type { Fields } from './transcript.ts'

/** The values of a configuration that its specification marks `airbyte_secret`. */
export function secretsOf(specification: Fields, config: unknown): string[] {
  if (specification['airbyte_secret'] === true) return scalars(config)
  const found: string[] = []
  const properties = specification['properties']
  if (isFields(properties) && isFields(config)) {
    for (const [name, schema] of Object.entries(properties))
      if (isFields(schema)) found.push(...secretsOf(schema, config[name]))
  }
  for (const keyword of ['oneOf', 'anyOf', 'allOf']) {
    const variants = specification[keyword]
    if (Array.isArray(variants))
      for (const variant of variants)
        if (isFields(variant)) found.push(...secretsOf(variant, config))
  }
  const items = specification['items']
  if (isFields(items) && Array.isArray(config))
    for (const item of config) found.push(...secretsOf(items, item))
  return [...new Set(found)]
}

/**
 * Every form in which FAST looks for a secret: as it is, escaped as JSON, in a URL, and each line
 * of a text with several. Unlike FAST it looks for secrets without a digit too.
 */
export function formsOf(secret: string): string[] {
  const forms = [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)]
  const lines = secret.split(/\r?\n|\\n/)
  return [...new Set([...forms, ...lines])].filter((form) => form.length >= 8)
}

function scalars(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(scalars)
  if (isFields(value)) return Object.values(value).flatMap(scalars)
  return typeof value === 'string' || typeof value === 'number' ? [String(value)] : []
}
