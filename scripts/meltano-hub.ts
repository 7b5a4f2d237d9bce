import { stringify } from 'yaml'
import { TAP_CAPABILITIES } from '../src/protocol/singer/about.ts'
import { pluginSettings, type Specification, settingsGroups } from './meltano-settings.ts'

/** spec.json as far as a listing is made from it. */
export interface ListedSpecification extends Specification {
  /** The changelog in the repository. */
  readonly changelogUrl: string
}

/** Where the definition stands in the repository. */
export const HUB_DEFINITION = 'meltano-hub/tap-protime.yml'

/**
 * The tap as Meltano's hub and `meltano add --from-ref` take it: YAML with its keys in order and
 * its lists not indented, as the hub's linter asks.
 */
export function hubDefinition(spec: ListedSpecification, packageName: string): string {
  const [repository = ''] = spec.changelogUrl.split('/blob/')
  const definition = {
    name: 'tap-protime',
    namespace: 'tap_protime',
    variant: packageName,
    label: spec.connectionSpecification.title,
    description: 'Workforce time and attendance',
    domain_url: 'https://www.protime.eu',
    docs: `${repository}/blob/main/docs/singer.md`,
    logo_url: '/assets/logos/extractors/protime.png',
    repo: repository,
    pip_url: packageName,
    executable: 'tap-protime',
    capabilities: TAP_CAPABILITIES.toSorted(),
    keywords: ['api', 'nodejs'],
    maintenance_status: 'active',
    quality: 'silver',
    settings: pluginSettings(spec),
    settings_group_validation: settingsGroups(spec),
    supported_python_versions: ['3.10', '3.11', '3.12', '3.13', '3.14'],
  }
  return stringify(definition, { sortMapEntries: true, indentSeq: false, lineWidth: 0 })
}
