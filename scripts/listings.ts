import { parseDocument, stringify } from 'yaml'
import { TAP_CAPABILITIES, TARGET_CAPABILITIES } from '../src/protocol/singer/singer-program.ts'
import { pluginSettings, type Specification, settingsGroups } from './meltano-settings.ts'

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
