import { Ajv, type ValidateFunction } from 'ajv'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { SettingsSchema } from '../protocol/settings-schema.ts'
import { configSchema } from './config-schema.ts'
import { CHECKED_KEYWORDS, settingsFaults } from './settings-faults.ts'

/** What a schema says without asking for anything. */
const DESCRIBING = [
  '$schema',
  'title',
  'description',
  'pattern_descriptor',
  'examples',
  'order',
  'display_type',
  'airbyte_secret',
  'airbyte_hidden',
  'format',
  'additionalProperties',
  // The one alternative that is meant takes its place before anything is checked.
  'oneOf',
]

/** The schema with one of its environments in place of them all. */
function withEnvironment(index: number): SettingsSchema {
  const schema = configSchema()
  const environment = schema.properties?.['environment']?.oneOf?.[index] ?? {}
  return { ...schema, properties: { ...schema.properties, environment } }
}

/** Each fault in a word, and the settings with their defaults, as a complete validator has them. */
function byAjv(value: unknown, check: ValidateFunction): unknown {
  const settings = structuredClone(value)
  check(settings)
  const faults = (check.errors ?? []).map(
    ({ instancePath, keyword, params }) =>
      `${instancePath} ${keyword} ${params['missingProperty'] ?? ''}`,
  )
  return { settings, faults: faults.sort() }
}

function byUs(value: unknown, schema: SettingsSchema): unknown {
  const settings = structuredClone(value)
  const faults = settingsFaults(settings, schema).map(
    ({ path, keyword, missing }) =>
      `${path.map((name) => `/${name}`).join('')} ${keyword} ${missing ?? ''}`,
  )
  return { settings, faults: faults.sort() }
}

describe('the faults of settings', () => {
  it('are those that a complete validator finds, and so are the defaults', () => {
    const text = fc.oneof(
      fc.string(),
      fc.constantFrom('2026-01-31', 'production', 'custom', 'acme'),
    )
    const odd = fc.oneof(
      fc.constantFrom(null, true, -1, 0, 1, 1.5, 1e9, 'https://x.test', '😀'.repeat(100), [], {}),
      text,
      fc.array(fc.oneof(fc.integer(), fc.record({ collection: text, names: fc.array(text) }))),
      fc.record({ type: text, base_url: text, auth_url: text }, { requiredKeys: [] }),
    )
    const names = Object.keys(configSchema().properties ?? {})
    const settings = fc.record(Object.fromEntries(names.map((name) => [name, odd])), {
      requiredKeys: [],
    })
    const ajv = new Ajv({
      allErrors: true,
      useDefaults: true,
      strict: false,
      validateFormats: false,
    })
    const schemas = [0, 1, 2].map(withEnvironment)
    const pairs = schemas.map((schema) => [schema, ajv.compile(schema)] as const)
    fc.assert(
      fc.property(fc.oneof(settings, odd), fc.constantFrom(...pairs), (value, [schema, check]) => {
        expect(byUs(value, schema)).toEqual(byAjv(value, check))
      }),
      { numRuns: 300 },
    )
  })

  it('are asked for with no keyword that is not checked', () => {
    const keywords = (schema: SettingsSchema): string[] => [
      ...Object.keys(schema),
      ...Object.values(schema.properties ?? {}).flatMap(keywords),
      ...(schema.oneOf ?? []).flatMap(keywords),
      ...(schema.items === undefined ? [] : keywords(schema.items)),
    ]
    const known: readonly string[] = [...CHECKED_KEYWORDS, ...DESCRIBING]
    expect(keywords(configSchema()).filter((keyword) => !known.includes(keyword))).toEqual([])
  })
})
