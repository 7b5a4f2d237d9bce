import type { SettingsSchema } from '../settings-schema.ts'
import { settingRows } from './setting-rows.ts'

/** What `--about` says of a tap. */
export interface About {
  readonly name: string
  readonly version: string
  readonly description: string
  /** JSON Schema of the settings; secrets are marked by `airbyte_secret`. */
  readonly settings: SettingsSchema
}

/** What the tap can do, in the words of Meltano's hub. */
export const CAPABILITIES = [
  'catalog',
  'discover',
  'state',
  'about',
  'test',
  'log-based',
  'activate-version',
  'structured-logging',
] as const

/** The JSON form, which Meltano's hub tools read. */
export function aboutJson({ name, version, description, settings }: About): string {
  const about = {
    name,
    description,
    version,
    capabilities: CAPABILITIES,
    settings: marked(settings),
  }
  return JSON.stringify(about, null, 2)
}

export function aboutMarkdown({ name, version, description, settings }: About): string {
  const rows = settingRows(settings).map(
    ({ path, isRequired, fallback, text }) =>
      `| \`${path}\` | ${isRequired ? 'yes' : 'no'} | ${fallback} | ${text.replaceAll('|', '\\|')} |`,
  )
  return [
    `# \`${name}\``,
    '',
    description,
    '',
    `Version: ${version}`,
    '',
    '## Capabilities',
    '',
    ...CAPABILITIES.map((capability) => `* \`${capability}\``),
    '',
    '## Settings',
    '',
    '| Setting | Required | Default | Description |',
    '|---|---|---|---|',
    ...rows,
    '',
  ].join('\n')
}

/** Secrets in the words of Singer's tools. */
function marked(schema: SettingsSchema): SettingsSchema {
  const { airbyte_secret, properties, oneOf, ...rest } = schema
  return {
    ...rest,
    ...(airbyte_secret ? { secret: true, writeOnly: true } : {}),
    ...(oneOf === undefined ? {} : { oneOf: oneOf.map(marked) }),
    ...(properties === undefined
      ? {}
      : {
          properties: Object.fromEntries(
            Object.entries(properties).map(([name, property]) => [name, marked(property)]),
          ),
        }),
  }
}
