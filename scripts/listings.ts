import { parseDocument, stringify } from 'yaml'
import { TAP_CAPABILITIES, TARGET_CAPABILITIES } from '../src/protocol/singer/singer-program.ts'

/** What the registry's file takes from other files. */
export interface MetadataFacts {
  readonly version: string
  readonly license: string
  /** The day of the newest version in CHANGELOG.md, YYYY-MM-DD. */
  readonly released: string
  readonly spec: {
    readonly protocol_version: string
    readonly documentationUrl: string
    readonly connectionSpecification: { readonly title: string }
  }
}

/** A metadata.yaml with every fact that stands in package.json, CHANGELOG.md or the specification as it is there now. */
export function withFacts(document: string, facts: MetadataFacts): string {
  const { version, license, released, spec } = facts
  const metadata = parseDocument(document)
  const values = {
    name: spec.connectionSpecification.title,
    dockerImageTag: version,
    protocolVersion: spec.protocol_version,
    license,
    documentationUrl: spec.documentationUrl,
    releaseDate: released,
  }
  for (const [key, value] of Object.entries(values)) {
    if (!metadata.hasIn(['data', key])) throw new Error(`metadata.yaml has lost data.${key}`)
    metadata.setIn(['data', key], value)
  }
  return metadata.toString({ lineWidth: 0 })
}

/** A specification as far as a listing is made from it. */
export interface ListedSpecification extends Specification {
  /** The changelog in the repository. */
  readonly changelogUrl: string
}

/** What differs between the listings of the tap and of the target. */
const PLUGINS = {
  'tap-protime': {
    capabilities: TAP_CAPABILITIES,
    description: 'Workforce time and attendance',
    page: 'singer.md',
    logos: 'extractors',
  },
  'target-protime': {
    capabilities: TARGET_CAPABILITIES,
    description: 'References, job categories and work locations of workforce time and attendance',
    page: 'writing.md',
    logos: 'loaders',
  },
} as const

/** A plugin for Meltano. */
export type Plugin = keyof typeof PLUGINS

/** Where the definition of a plugin stands in the repository. */
export function hubFile(plugin: Plugin): string {
  return `meltano-hub/${plugin}.yml`
}

/**
 * A plugin as Meltano's hub and `meltano add --from-ref` take it: YAML with its keys in order and
 * its lists not indented, as the hub's linter asks.
 */
export function hubDefinition(
  plugin: Plugin,
  spec: ListedSpecification,
  packageName: string,
): string {
  const [repository = ''] = spec.changelogUrl.split('/blob/')
  const { capabilities, description, page, logos } = PLUGINS[plugin]
  const definition = {
    name: plugin,
    namespace: plugin.replaceAll('-', '_'),
    variant: packageName,
    label: spec.connectionSpecification.title,
    description,
    domain_url: 'https://www.protime.eu',
    docs: `${repository}/blob/main/docs/${page}`,
    logo_url: `/assets/logos/${logos}/protime.png`,
    repo: repository,
    pip_url: packageName,
    executable: plugin,
    capabilities: capabilities.toSorted(),
    keywords: ['api', 'nodejs'],
    maintenance_status: 'active',
    quality: 'silver',
    settings: pluginSettings(spec),
    settings_group_validation: settingsGroups(spec),
    supported_python_versions: ['3.10', '3.11', '3.12', '3.13', '3.14'],
  }
  return stringify(definition, { sortMapEntries: true, indentSeq: false, lineWidth: 0 })
}

/** README.md as PyPI shows it, which knows no other file of the repository: its links lead to this version's files. */
export function pageForPyPi(readme: string, version: string): string {
  const repository = 'source-protime/source-protime'
  const raw = `https://raw.githubusercontent.com/${repository}/v${version}/`
  const page = `https://github.com/${repository}/blob/v${version}/`
  return readme
    .replaceAll(/(!\[[^\]]*\]\()(?!https:)/g, `$1${raw}`)
    .replaceAll(/(?<!!)(\[[^\]]*\]\()(?!https:|#)/g, `$1${page}`)
}

/** A specification as far as Meltano's settings are made from it. */
export interface Specification {
  readonly connectionSpecification: Setting
}

interface Setting {
  readonly type?: string
  readonly title?: string
  readonly description?: string
  readonly format?: string
  readonly const?: unknown
  readonly enum?: readonly string[]
  readonly default?: unknown
  readonly airbyte_secret?: boolean
  readonly required?: readonly string[]
  readonly properties?: Readonly<Record<string, Setting>>
  readonly oneOf?: readonly Setting[]
}

/** One setting of a plugin, in the words of Meltano's plugin definition. */
export interface PluginSetting {
  readonly name: string
  readonly kind: string
  readonly label: string | undefined
  readonly description: string | undefined
  readonly sensitive?: true
  readonly value?: unknown
  readonly options?: readonly { readonly label: string; readonly value: unknown }[]
}

const END = '    # end of the generated part\n'

/** meltano.yml with the settings of a plugin as its specification has them now. */
export function withSettings(document: string, plugin: string, spec: Specification): string {
  const mark = `    # the settings of ${plugin}, generated by \`npm run docs\`\n`
  const start = document.indexOf(mark) + mark.length
  const end = document.indexOf(END, start)
  if (start < mark.length || end < 0)
    throw new Error(`meltano.yml has lost the marks of the settings of ${plugin}`)
  return `${document.slice(0, start)}${meltanoSettings(spec)}${document.slice(end)}`
}

/**
 * The settings of a plugin as YAML for meltano.yml: nested ones have dotted names, as Meltano needs
 * them, and a default only where all alternatives share it.
 */
export function meltanoSettings(spec: Specification): string {
  return [
    `    settings_group_validation: ${JSON.stringify(settingsGroups(spec))}`,
    '    settings:',
    ...pluginSettings(spec).flatMap(yamlOf),
    '',
  ].join('\n')
}

/** The settings of a plugin, each as Meltano knows it. */
export function pluginSettings({ connectionSpecification }: Specification): PluginSetting[] {
  return settingsOf(connectionSpecification, '')
}

/** The settings that a plugin must have: a list of one group. */
export function settingsGroups({ connectionSpecification }: Specification): string[][] {
  return [requiredNames(connectionSpecification)]
}

function settingsOf({ properties = {} }: Setting, prefix: string): PluginSetting[] {
  return Object.entries(properties).flatMap(([name, setting]) =>
    setting.oneOf === undefined
      ? [plain(`${prefix}${name}`, setting)]
      : alternatives(`${prefix}${name}.`, setting.oneOf),
  )
}

function plain(name: string, setting: Setting): PluginSetting {
  return {
    name,
    kind: setting.enum === undefined ? kindOf(setting) : 'options',
    label: setting.title,
    description: setting.description,
    ...(setting.enum === undefined
      ? {}
      : { options: setting.enum.map((value) => ({ label: inWords(value), value })) }),
    ...(setting.airbyte_secret ? { sensitive: true } : {}),
    ...(setting.default === undefined ? {} : { value: setting.default }),
  }
}

/** Members of the alternatives, each once; the one that tells them apart is a choice. */
function alternatives(prefix: string, options: readonly Setting[]): PluginSetting[] {
  const members = options.flatMap((option) => Object.entries(option.properties ?? {}))
  return [...new Set(members.map(([name]) => name))].map((name) => {
    const variants = members.filter(([other]) => other === name).map(([, setting]) => setting)
    const [first = {}] = variants
    if (first.const !== undefined) return choice(`${prefix}${name}`, options, name)
    const { default: fallback, ...rest } = variants.at(-1) ?? first
    const isShared = variants.every((variant) => variant.default === fallback)
    return plain(
      `${prefix}${name}`,
      isShared && fallback !== undefined ? { ...rest, default: fallback } : rest,
    )
  })
}

function choice(name: string, options: readonly Setting[], member: string): PluginSetting {
  const descriptions = options.map((option) => option.properties?.[member]?.description ?? '')
  return {
    name,
    kind: 'options',
    label: options[0]?.properties?.[member]?.title,
    description: descriptions.join(' '),
    options: options.map(({ title = '', properties }) => ({
      label: title,
      value: properties?.[member]?.const,
    })),
  }
}

function inWords(value: string): string {
  return `${value.charAt(0).toUpperCase()}${value.slice(1).replaceAll('_', ' ')}`
}

function kindOf({ type, format }: Setting): string {
  if (format === 'date') return 'date_iso8601'
  // Meltano 4 cannot write its own `decimal` into a tap's configuration; fractions in YAML pass.
  return type === 'number' ? 'integer' : (type ?? 'string')
}

function requiredNames({ required = [], properties = {} }: Setting): string[] {
  return required.flatMap((name) => {
    const [first] = properties[name]?.oneOf ?? []
    return first === undefined
      ? [name]
      : (first.required ?? []).map((member) => `${name}.${member}`)
  })
}

/** JSON is YAML, so values need no other quoting. */
function yamlOf(setting: PluginSetting): string[] {
  const lines = Object.entries(setting)
    .filter(([, value]) => value !== undefined)
    .map(
      ([key, value]) =>
        `${key}: ${key === 'name' || key === 'kind' ? value : JSON.stringify(value)}`,
    )
  return lines.map((line, i) => `    ${i === 0 ? '- ' : '  '}${line}`)
}
