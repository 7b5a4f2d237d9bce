import { renameSync, writeFileSync } from 'node:fs'
import { Ajv } from 'ajv'
import standaloneCode from 'ajv/dist/standalone/index.js'
import { configSchema } from '../src/config/config-schema.ts'
import { writeSettingsSchema } from '../src/config/write-settings.ts'
import type { SettingsSchema } from '../src/ground/settings-schema.ts'

const FILE = 'dist/validators.cjs'

/** `node dist/scripts/compile-validators.js`, for the build: writes the code that checks settings. */
const ajv = new Ajv({
  allErrors: true,
  verbose: true,
  useDefaults: true,
  discriminator: true,
  strict: false,
  validateFormats: false,
  schemas: { config: withDiscriminator(configSchema()), write: writeSettingsSchema() },
  code: { source: true },
})

// In two steps: another process may be reading it.
writeFileSync(`${FILE}.new`, standaloneCode.default(ajv, { config: 'config', write: 'write' }))
renameSync(`${FILE}.new`, FILE)

/**
 * Lets `type` choose among the alternatives of `environment`, so that a fault is reported once, against the
 * alternative that was meant, and its defaults are applied. Platforms do not know the keyword.
 */
function withDiscriminator(schema: SettingsSchema): SettingsSchema {
  const { properties } = schema
  const discriminator = { propertyName: 'type' }
  const environment = { ...properties?.['environment'], discriminator }
  return { ...schema, properties: { ...properties, environment } }
}
