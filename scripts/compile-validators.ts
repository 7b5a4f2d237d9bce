import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { Ajv } from 'ajv'
import standaloneCode from 'ajv/dist/standalone/index.js'
import { parse } from 'yaml'
import { configSchema, writeSettingsSchema } from '../src/config/config-faults.ts'
import type { SettingsSchema } from '../src/ground/settings-schema.ts'

const require = createRequire(import.meta.url)
const FILE = 'dist/validators.cjs'
const PROTOCOL = readFileSync('src/protocol/acceptance/airbyte_protocol.yaml', 'utf8')
const MESSAGE_FILE = 'dist/airbyte-message.cjs'

/** `node dist/scripts/compile-validators.js`, for the build: writes the code that checks settings, and messages of Airbyte. */
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

const licence = readFileSync(require.resolve('ajv/LICENSE'), 'utf8')
const code = withoutAjv(standaloneCode.default(ajv, { config: 'config', write: 'write' }))
write(FILE, `/*\n${licence}*/\n${code}`)
write(MESSAGE_FILE, `/*\n${openingComment(PROTOCOL)}*/\n${messageCode()}`)

/** Replaces the `require` of a module of ajv by its code, so that the programs do not need ajv. */
function withoutAjv(compiled: string): string {
  const name = 'ajv/dist/runtime/ucs2length'
  const module = readFileSync(require.resolve(name), 'utf8').replace(
    /^(\/\/|ucs2length\.code).*\n?/gm,
    '',
  )
  const inPlace = `(() => { const exports = {};\n${module}\nreturn exports })()`
  const alone = compiled.replaceAll(`require("${name}")`, () => inPlace)
  if (alone.includes('require(')) throw new Error('The code of ajv loads another module, too.')
  return alone
}

/** The comment at the top of a YAML file: for the protocol's definition, its origin and its licence. */
function openingComment(yaml: string): string {
  return yaml.slice(0, yaml.indexOf('---\n')).replace(/^# ?/gm, '')
}

/** Writes a file in two steps, because another process may be reading it. */
function write(file: string, code: string): void {
  writeFileSync(`${file}.new`, code)
  renameSync(`${file}.new`, file)
}

/** The code that checks messages. Not strict: the definition has keywords of a code generator, not of JSON Schema. */
function messageCode(): string {
  const protocol = new Ajv({
    strict: false,
    formats: { uri: /^[a-z][a-z\d+.-]*:\S+$/i },
    code: { source: true },
  })
  protocol.addSchema(parse(PROTOCOL) as object, 'protocol')
  const validate = protocol.getSchema('protocol#/definitions/AirbyteMessage')
  if (validate === undefined) throw new Error('the protocol definition has no AirbyteMessage')
  return standaloneCode.default(protocol, validate)
}

/**
 * Lets `type` choose among the alternatives of `environment`, so that a fault is reported once, for the alternative that
 * was meant, and the defaults of this alternative are applied. spec.json does not have the keyword, because platforms do
 * not know it.
 */
function withDiscriminator(schema: SettingsSchema): SettingsSchema {
  const { properties } = schema
  const discriminator = { propertyName: 'type' }
  const environment = { ...properties?.['environment'], discriminator }
  return { ...schema, properties: { ...properties, environment } }
}
