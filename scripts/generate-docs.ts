import { readFileSync, writeFileSync } from 'node:fs'
import { writeSettingsSchema } from '../src/config/config-faults.ts'
import { destinationSpec } from '../src/destination/destination-connector.ts'
import { readProjectJson } from '../src/ground/project-files.ts'
import { RUNBOOK_SECTIONS, runbookRows } from '../src/ground/runbook.ts'
import type { SettingsSchema } from '../src/ground/settings-schema.ts'
import {
  type PrivacyClass,
  type PrivacyMode,
  type PrivacySettings,
  privacyClassOf,
} from '../src/privacy/privacy-settings.ts'
import { type FieldOutcome, type Redaction, redactionOfStream } from '../src/privacy/redaction.ts'
import { settingRows } from '../src/protocol/singer/settings.ts'
import type { JsonSchema } from '../src/records/stream-spec.ts'
import type { Stream } from '../src/streams/collections.ts'
import { readStreamSchema, streams } from '../src/streams/streams.ts'
import { POSITION } from '../src/sync/position.ts'
import { KEYS, STATE } from '../src/sync/stored-state.ts'
import { objects } from '../src/write/objects.ts'
import { notice } from './bill-of-materials.ts'
import { writeDbtFiles } from './dbt-package.ts'
import { INSTALL_GUIDE, MANIFESTS, withVersion } from './guide-blocks.ts'
import {
  hubDefinition,
  hubFile,
  type ListedSpecification,
  type MetadataFacts,
  withFacts,
  withSettings,
} from './listings.ts'
import { releasesOf } from './release.ts'
import { dataModel, RECORD_TYPES, recordTypes } from './schema-documents.ts'

/** A table of Markdown; bars in the cells are escaped. */
export function markdown(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [line(head), `|${head.map(() => '---').join('|')}|`, ...rows.map(line)].join('\n')
}

/** A setting as the platform's form shows it. */
interface Field {
  readonly title?: string
  readonly description?: string
  readonly required?: readonly string[]
  readonly properties?: Readonly<Record<string, Field>>
}

const TAGS = 'https://github.com/source-protime/source-protime/releases/tag'

/** The required fields of the form, by their titles. */
export function prerequisites(): string {
  const { required = [], properties = {} } = specification()
  return required
    .map(
      (name) => `- **${properties[name]?.title}**: ${plain(properties[name]?.description ?? '')}`,
    )
    .join('\n')
}

/** CHANGELOG.md as the table that ends a page of Airbyte. */
export function changelog(): string {
  const rows = releasesOf(readFileSync('CHANGELOG.md', 'utf8')).map(
    ({ version, date, subject }) => [version, date, `[v${version}](${TAGS}/v${version})`, subject],
  )
  const table = markdown(['Version', 'Date', 'Release', 'Subject'], rows)
  // Airbyte's check requires the details directly below the heading.
  return `## Changelog\n\n<details>\n  <summary>Expand to review</summary>\n\n${table}\n\n</details>`
}

function specification(): Field {
  return (readProjectJson('#spec') as { connectionSpecification: Field }).connectionSpecification
}

/** Escapes text for Airbyte's site, which would take braces and angle brackets for code. */
function plain(text: string): string {
  return text
    .split('`')
    .map((part, i) => (i % 2 === 0 ? part.replace(/[{}<]/g, '\\$&') : part))
    .join('`')
}

const MODES: readonly PrivacyMode[] = ['complete', 'without_secrets', 'pseudonymised', 'minimal']

const OUTCOMES: Readonly<Record<FieldOutcome, string>> = {
  keep: 'kept',
  drop: 'left out',
  hash: 'hash',
  null: 'empty',
  year: 'dates are cut to the year',
}

const CLASSES: Readonly<Record<Exclude<PrivacyClass, 'none'>, string>> = {
  secret:
    "lets somebody act or pay in another person's name: PIN codes, badge numbers, bank accounts, social security numbers",
  sensitive: 'health, location, pay, origin, family',
  identifying:
    'who the person is: names, home addresses, employee numbers, external references, free text',
  personal: 'facts about a person who is known only by an id',
}

/** What each mode does with the fields of each class. */
function classTable(): string {
  const rows = Object.entries(CLASSES).map(([name, meaning]) => [
    code(name),
    meaning,
    ...MODES.map((mode) => outcomesIn(mode, name as PrivacyClass)),
  ])
  return markdown(['Class', 'Meaning', ...MODES.map(code)], rows)
}

function outcomesIn(mode: PrivacyMode, wanted: PrivacyClass): string {
  const settings: PrivacySettings = {
    mode,
    pseudonyms: undefined,
    rules: [],
    unknownFields: 'keep',
  }
  const found = [...streams.values()].flatMap((stream) => {
    const { outcomes } = redactionOfStream(stream, settings)
    const fields = classifiedFields(stream).filter(({ privacyClass }) => privacyClass === wanted)
    return fields.map(({ path }) => OUTCOMES[outcomeOf(path, outcomes)])
  })
  return [...new Set(found)].toSorted().reverse().join('; ')
}

/** What becomes of a field. One inside of an object that is left out has no outcome of its own. */
function outcomeOf(path: string, outcomes: Redaction['outcomes']): FieldOutcome {
  const outcome = outcomes.get(path)
  if (outcome !== undefined) return outcome
  const around = path.slice(0, Math.max(0, path.lastIndexOf('.')))
  return around === '' ? 'keep' : outcomeOf(around, outcomes)
}

/** A section for each class that some mode leaves out: its fields, by stream. */
function classSections(): string {
  return (['secret', 'sensitive', 'identifying'] as const)
    .map((name) => `### Fields that are ${name}\n\n${fieldLists(name).join('\n')}`)
    .join('\n\n')
}

/** The member of many objects that is named once for all streams: its class is the same in all of them. */
const REFERENCES = 'externalReferences'

function fieldLists(wanted: PrivacyClass): string[] {
  let isEverywhere = false
  const lists = [...streams.values()].flatMap((stream) => {
    const fields = classifiedFields(stream).filter(({ privacyClass }) => privacyClass === wanted)
    const own = fields.filter(({ path }) => path.split('.').at(-1) !== REFERENCES)
    isEverywhere ||= own.length < fields.length
    const paths = own.map(({ path }) => code(path)).join(', ')
    return paths === '' ? [] : [`- **${stream.stream}**: ${paths}`]
  })
  return isEverywhere ? [...lists, `- **all streams**, at any depth: ${code(REFERENCES)}`] : lists
}

interface ClassifiedField {
  readonly path: string
  readonly privacyClass: PrivacyClass
}

/** The fields of a stream with their classes; a field inside of an object only if its class differs from the object's. */
function classifiedFields({ stream }: Stream): ClassifiedField[] {
  return inside(readStreamSchema(stream), '')

  function inside(schema: JsonSchema, at: string, around?: PrivacyClass): ClassifiedField[] {
    return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
      const path = `${at}${name}`
      const privacyClass = privacyClassOf(field)
      const own = privacyClass === around ? [] : [{ path, privacyClass }]
      return [...own, ...inside(field.items ?? field, `${path}.`, privacyClass)]
    })
  }
}

/** What can be written, and within which limits. */
export function objectTable(): string {
  const rows = Object.entries(objects).map(([name, object]) => [
    code(name),
    object.keys.map((key) => key.map(code).join(', ')).join(' or '),
    Object.keys(object.properties).map(code).join(', '),
    object.requests,
    object.limits.join('; '),
    object.scopes.map((scope) => code(`connector-<api>-${scope}`)).join(', '),
  ])
  return markdown(['Object', 'Key', 'Members', 'Requests', 'Limits', 'Scopes'], rows)
}

/** The settings that apply to writing only. */
export function writeSettingTable(): string {
  const rows = settingRows(writeSettingsSchema()).map(({ path, fallback, text }) => [
    code(path),
    fallback,
    text,
  ])
  return markdown(['Setting', 'Default', 'Meaning'], rows)
}

function code(text: string): string {
  return `\`${text}\``
}

/** The fields of a stored state, from its tables. */
function stateFields(): string {
  const fields = [STATE, POSITION, KEYS].flatMap((table) => Object.values(table.fields))
  return fields.map(({ stored, about }) => `- ${code(stored)}: ${about}`).join('\n')
}

/** Every table of the documents that is made from the code, by the name in its marker. */
const tables: Readonly<Record<string, () => string>> = {
  state: stateFields,
  configuration,
  streams: streamTable,
  scopes,
  prerequisites,
  changelog,
  classes: classTable,
  privacy: classSections,
  objects: objectTable,
  writing: writeSettingTable,
  entities: dataModel,
  runbook,
}

/** The documents with parts that are made from the code. */
export const DOCUMENTS = [
  'docs/settings.md',
  'docs/streams.md',
  'docs/decisions/the-state-is-flat.md',
  'docs/airbyte.md',
  'docs/privacy.md',
  'docs/writing.md',
  'docs/data-model.md',
  'docs/runbook.md',
] as const

/** A document with every generated part as the code has it now; throws for an unknown marker. */
export function withTables(document: string): string {
  return document.replace(
    /(<!-- generated: ([a-z]+) -->\n)[\s\S]*?(<!-- end -->)/g,
    (_all, start: string, name: string, end: string) => {
      const table = tables[name]
      if (table === undefined) throw new Error(`there is no generated part "${name}"`)
      return `${start}\n${table()}\n\n${end}`
    },
  )
}

function configuration(): string {
  const { connectionSpecification } = readProjectJson('#spec') as {
    connectionSpecification: SettingsSchema
  }
  const rows = settingRows(connectionSpecification).map(({ path, isRequired, fallback, text }) => [
    `\`${path}\``,
    isRequired ? 'required' : fallback,
    text,
  ])
  return markdown(['Setting', 'Default', 'Meaning'], rows)
}

function streamTable(): string {
  const rows = [...streams.values()].map((stream) => [
    `\`${stream.stream}\``,
    readingOf(stream),
    (stream.references ?? []).join(', '),
    stream.description,
  ])
  return markdown(['Stream', 'Read by', 'References of', 'Records'], rows)
}

/** The streams whose scopes do not follow from their names. */
function scopes(): string {
  const rows = [...streams.values()].flatMap(({ stream, scopes: named }) =>
    named === undefined ? [] : [[code(stream), named.map(code).join(' or ')]],
  )
  return markdown(['Stream', 'Scope'], rows)
}

/**
 * A section for each kind of message, with what to do for each id; the log has the message. Ids with the same advice
 * share it. Each id is a heading, so that it is an anchor.
 */
function runbook(): string {
  const rows = runbookRows()
  return RUNBOOK_SECTIONS.map(([heading, ids]) => {
    const adviceOf = (id: string) => rows.get(id)?.do ?? ''
    const entries = [...new Set(ids.map(adviceOf))].flatMap((advice) => [
      ...ids.filter((id) => adviceOf(id) === advice).map((id) => `#### ${id}`),
      advice,
    ])
    return [`### ${heading}`, ...entries].join('\n\n')
  }).join('\n\n')
}

function readingOf({ replication, dateField }: Stream): string {
  return [replication, ...(dateField ? ['by date'] : [])].join(', ')
}

/**
 * `npm run docs`: rewrites the generated parts of the documents and listings, the dbt package, NOTICE, and the types of
 * records, in the present folder.
 */
function main(): void {
  const spec = readProjectJson('#spec') as ListedSpecification & MetadataFacts['spec']
  const destination = destinationSpec() as ReturnType<typeof destinationSpec> & typeof spec
  const { name, version, license } = readProjectJson('#package') as Record<string, string>
  const released = releasesOf(readFileSync('CHANGELOG.md', 'utf8'))[0]?.date ?? ''
  const facts = { version, license, released } as Omit<MetadataFacts, 'spec'>
  for (const file of DOCUMENTS) rewrite(file, withTables)
  for (const [plugin, given] of [
    ['tap-protime', spec],
    ['target-protime', destination],
  ] as const) {
    rewrite('meltano.yml', (text) => withSettings(text, plugin, given))
    rewrite(hubFile(plugin), () => hubDefinition(plugin, given, name ?? ''))
  }
  rewrite('metadata.yaml', (text) => withFacts(text, { ...facts, spec }))
  rewrite('metadata-destination.yaml', (text) => withFacts(text, { ...facts, spec: destination }))
  for (const file of [INSTALL_GUIDE, ...MANIFESTS])
    rewrite(file, (text) => withVersion(text, facts.version))
  writeFileSync('NOTICE', notice())
  writeFileSync(RECORD_TYPES, recordTypes())
  writeDbtFiles()
}

function rewrite(file: string, make: (text: string) => string): void {
  const text = readFileSync(file, 'utf8')
  const made = make(text)
  if (made !== text) writeFileSync(file, made)
}

if (process.argv[1] === import.meta.filename) main()
