import { defaultControl, referenceText } from '../emulator/control/reference-text.ts'
import { serveOptions } from '../src/cli/serve-options.ts'
import { readProjectJson } from '../src/project-files.ts'
import type { SettingsSchema } from '../src/protocol/settings-schema.ts'
import { settingRows } from '../src/protocol/singer/setting-rows.ts'
import type { Stream } from '../src/streams/collection.ts'
import { keyOf, streams } from '../src/streams/streams.ts'
import { METRICS } from '../src/webhooks/serve/metrics.ts'
import { changelog, form, prerequisites, troubleshooting } from './airbyte-page.ts'
import { markdown } from './markdown-table.ts'
import { privacyTables } from './privacy-page.ts'
import { objectTable, writeSettingTable } from './writing-tables.ts'

/** Every table of the documents that is made from the code, by the name in its marker. */
const tables: Readonly<Record<string, () => string>> = {
  configuration,
  streams: streamTable,
  scopes,
  emulator: () => referenceText(defaultControl),
  prerequisites,
  form,
  troubleshooting,
  changelog,
  privacy: privacyTables,
  objects: objectTable,
  writing: writeSettingTable,
  serve: serveTable,
  metrics: metricsTable,
}

/** The documents with parts that are made from the code. */
export const DOCUMENTS = [
  'README.md',
  'docs/user-guide.md',
  'docs/emulator.md',
  'docs/airbyte.md',
  'docs/privacy.md',
  'docs/writing.md',
  'docs/webhooks.md',
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
    isRequired ? 'yes' : '',
    fallback,
    text,
  ])
  return markdown(['Setting', 'Required', 'Default', 'Meaning'], rows)
}

function streamTable(): string {
  const rows = [...streams.values()].map((stream) => [
    `\`${stream.stream}\``,
    keyOf(stream).map(code).join(', '),
    stream.versioned === false ? '' : '`changeVersion`',
    readingOf(stream),
    stream.dateField ? '`date`' : '',
    (stream.references ?? []).join(', '),
    stream.description,
  ])
  return markdown(
    [
      'Stream',
      'Primary key',
      'Cursor',
      'Kept up to date by',
      'Filter',
      'External references of',
      'Records',
    ],
    rows,
  )
}

function scopes(): string {
  const rows = [...streams.values()].map((stream) => [
    `\`${stream.stream}\``,
    (stream.scopes ?? [stream.collection])
      .map((name) => code(`connector-<api>-${name}.read`))
      .join(' or '),
  ])
  return markdown(['Stream', 'Scope'], rows)
}

function serveTable(): string {
  const rows = serveOptions().map(({ flags, defaultValue, description }) => [
    code(flags),
    typeof defaultValue === 'string' ? defaultValue : '',
    description,
  ])
  return markdown(['Option', 'Default', 'Meaning'], rows)
}

function metricsTable(): string {
  const rows = METRICS.map(({ name, type, label, help }) => [
    code(name),
    type,
    label === undefined ? '' : code(label),
    help,
  ])
  return markdown(['Metric', 'Type', 'Label', 'Meaning'], rows)
}

function readingOf({ replication }: Stream): string {
  return replication === 'delta' ? 'delta' : 'a whole list each time'
}

function code(text: string): string {
  return `\`${text}\``
}
