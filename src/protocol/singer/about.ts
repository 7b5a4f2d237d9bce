import type { SettingsSchema } from '../settings-schema.ts'
import { settingRows } from './setting-rows.ts'

/** What `--about` says of a tap or a target. */
export interface About {
  readonly name: string
  readonly version: string
  readonly description: string
  /** What it can do, in the words of Meltano's hub. */
  readonly capabilities: readonly string[]
  /** JSON Schema of the settings; secrets are marked by `airbyte_secret`. */
  readonly settings: SettingsSchema
}

/** What every tap can do. */
export const TAP_CAPABILITIES = [
  'catalog',
  'discover',
  'state',
  'about',
  'test',
  'log-based',
  'activate-version',
  'structured-logging',
] as const

/** What every target can do. */
export const TARGET_CAPABILITIES = ['about', 'activate-version', 'structured-logging'] as const

/** `--about` in a format; text is Markdown, which is read as well. */
export function aboutText(about: About, format: AboutFormat): string {
  return format === 'json' ? aboutJson(about) : aboutMarkdown(about)
}

/** The values of `--format`. */
export const ABOUT_FORMATS = ['text', 'json', 'markdown'] as const
/** One of the formats of `--about`. */
export type AboutFormat = (typeof ABOUT_FORMATS)[number]

/** The JSON form, which Meltano's hub tools read. */
function aboutJson({ name, version, description, capabilities, settings }: About): string {
  const about = {
    name,
    description,
    version,
    capabilities,
    settings: marked(settings),
  }
  return JSON.stringify(about, null, 2)
}

function aboutMarkdown({ name, version, description, capabilities, settings }: About): string {
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
    ...capabilities.map((capability) => `* \`${capability}\``),
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
