import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parse } from 'yaml'
import type { Fields } from './transcript.ts'

/** The sections of an acceptance-test-config.yml that the suite runs. */
export const sections = [
  'spec',
  'connection',
  'discovery',
  'basic_read',
  'full_refresh',
  'incremental',
] as const

export type Section = (typeof sections)[number]

/** One entry: a configuration and what is expected of it. */
export interface Entry {
  readonly section: Section
  readonly config_path: string
  readonly configured_catalog_path?: string
  readonly status?: 'succeed' | 'failed' | 'exception'
  readonly spec_path?: string
  readonly empty_streams?: readonly { readonly name: string; readonly bypass_reason?: string }[]
  readonly validate_schema?: boolean
  readonly future_state?: { readonly future_state_path?: string; readonly bypass_reason?: string }
}

/** An acceptance-test-config.yml, checked. */
export interface AcceptanceConfig {
  readonly folder: string
  readonly isStrict: boolean
  readonly entries: readonly Entry[]
  /** Sections that give a reason instead of tests. */
  readonly bypassed: readonly Section[]
}

const EVERYWHERE = ['config_path', 'status', 'bypass_reason', 'configured_catalog_path']

/** The keys of an entry that FAST 7.39.1 accepts (models/scenario.py); it does not read `incremental`, so CAT's keys hold there. */
const KEYS: Readonly<Record<Section, readonly string[]>> = {
  spec: [...EVERYWHERE, 'spec_path', 'backward_compatibility_tests_config', 'deployment_mode'],
  connection: [...EVERYWHERE, 'deployment_mode'],
  discovery: [...EVERYWHERE, 'backward_compatibility_tests_config'],
  basic_read: [
    ...EVERYWHERE,
    'empty_streams',
    'validate_schema',
    'client_container_config',
    'expect_trace_message_on_failure',
    'validate_state_messages',
  ],
  full_refresh: [...EVERYWHERE, 'empty_streams', 'client_container_config'],
  incremental: [...EVERYWHERE, 'future_state', 'skip_comprehensive_incremental_tests'],
}

/** Reads the file; throws one sentence with all that is wrong with it. */
export function readAcceptanceConfig(file: string): AcceptanceConfig {
  const content = parse(readFileSync(file, 'utf8')) as Fields
  const tests = (content['acceptance_tests'] ?? {}) as Readonly<Record<string, SectionContent>>
  const isStrict = content['test_strictness_level'] === 'high'
  const entries = sections.flatMap((section) =>
    (tests[section]?.tests ?? []).map((entry): Entry => ({ ...entry, section })),
  )
  const faults = [
    ...entries.flatMap(unknownKeys),
    ...(isStrict ? strictnessFaults(tests, entries) : []),
  ]
  if (faults.length > 0) throw new Error(`${file}: ${faults.join('; ')}`)
  return {
    folder: dirname(file),
    isStrict,
    entries,
    bypassed: sections.filter((section) => tests[section]?.bypass_reason !== undefined),
  }
}

/** The JSON file that an entry names, relative to the file of the entries. */
export function readJson({ folder }: AcceptanceConfig, path: string): Fields {
  return JSON.parse(readFileSync(join(folder, path), 'utf8')) as Fields
}

interface SectionContent {
  readonly bypass_reason?: string
  readonly tests?: readonly Omit<Entry, 'section'>[]
}

function unknownKeys({ section, ...entry }: Entry): string[] {
  return Object.keys(entry)
    .filter((key) => !KEYS[section].includes(key))
    .map((key) => `${key} is no key of an entry of ${section}`)
}

/** What CAT demands at `test_strictness_level: high` (config.py). */
function strictnessFaults(
  tests: Readonly<Record<string, SectionContent>>,
  entries: readonly Entry[],
): string[] {
  const missing = sections
    .filter(
      (section) => (tests[section]?.tests ?? tests[section]?.bypass_reason ?? []).length === 0,
    )
    .map((section) => `${section} has neither tests nor a reason`)
  const silent = entries
    .flatMap(({ empty_streams = [] }) => empty_streams)
    .filter(({ bypass_reason }) => !bypass_reason)
    .map(({ name }) => `the empty stream ${name} has no reason`)
  const lenient = entries
    .filter(({ validate_schema }) => validate_schema === false)
    .map(() => 'validate_schema may not be false')
  const timeless = entries
    .filter(({ section, future_state: future }) => section === 'incremental' && !future)
    .map(() => 'incremental has neither a future state nor a reason')
  return [...missing, ...silent, ...lenient, ...timeless]
}
