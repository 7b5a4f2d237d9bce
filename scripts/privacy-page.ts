import { type PrivacyClass, privacyClassOf } from '../src/privacy/privacy-class.ts'
import type { PrivacyMode, PrivacySettings } from '../src/privacy/privacy-settings.ts'
import { treatmentOfStream } from '../src/privacy/treated-stream.ts'
import type { FieldOutcome } from '../src/privacy/treatment.ts'
import type { JsonSchema } from '../src/protocol/stream-spec.ts'
import type { Stream } from '../src/streams/collection.ts'
import { readStreamSchema, streams } from '../src/streams/streams.ts'
import { markdown } from './markdown-table.ts'

const MODES: readonly PrivacyMode[] = ['complete', 'without_secrets', 'pseudonymised', 'minimal']

const WORDS: Readonly<Record<FieldOutcome, string>> = {
  keep: 'stays',
  drop: 'left out',
  hash: 'hash',
  null: 'empty',
  year: 'year',
}

/** Of each stream, every field that tells something of a person, with what each mode makes of it. */
export function privacyTables(): string {
  return [...streams.values()].flatMap(streamSection).join('\n\n')
}

function streamSection(stream: Stream): string[] {
  const treatments = MODES.map((mode) => treatmentOfStream(stream, settingsOf(mode)).outcomes)
  const rows = fieldsOf(readStreamSchema(stream.stream)).flatMap(
    ({ path, privacyClass, description }) => {
      if (privacyClass === 'none') return []
      const outcomes = treatments.map((outcomes) => WORDS[outcomeOf(path, outcomes)])
      return [[`\`${path}\``, privacyClass, ...outcomes, description]]
    },
  )
  if (rows.length === 0) return []
  const head = ['Field', 'Class', ...MODES.map((mode) => `\`${mode}\``), 'What it is']
  return [`### ${stream.stream}`, markdown(head, rows)]
}

function settingsOf(mode: PrivacyMode): PrivacySettings {
  return { mode, key: 'any', rules: [], unknownFields: 'keep' }
}

/** What becomes of an object becomes of all that is in it. */
function outcomeOf(path: string, outcomes: ReadonlyMap<string, FieldOutcome>): FieldOutcome {
  const parts = path.split('.')
  const around = parts.map((_, i) => parts.slice(0, i + 1).join('.'))
  return around.flatMap((one) => outcomes.get(one) ?? [])[0] ?? 'keep'
}

interface Field {
  readonly path: string
  readonly privacyClass: PrivacyClass
  readonly description: string
}

function fieldsOf(schema: JsonSchema, at = ''): Field[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const path = `${at}${name}`
    const description = String(field['description'] ?? '')
    const inside = field.items ?? field
    return [
      { path, privacyClass: privacyClassOf(field), description },
      ...fieldsOf(inside, `${path}.`),
    ]
  })
}
