import { warningOf } from '../ground/message-ids.ts'
import type { SettingsSchema } from '../ground/settings-schema.ts'
import { nearest } from '../ground/text.ts'
import { collections, referencedCollections } from '../streams/collections.ts'
import { chosenEnvironment, configSchema } from './config-schema.ts'
import { writeSettingsSchema } from './write-settings.ts'

/** Settings that only one program has. */
type OwnSettings = NonNullable<SettingsSchema['properties']>

/**
 * One sentence for each part of a configuration that has no effect: unknown settings, and references that no record
 * can have. Accepts any JSON, valid or not.
 */
export function configWarnings(input: unknown): string[] {
  return [...unknownSettings(input), ...referencesWithoutRecords(input)]
}

/**
 * One sentence for each setting that does not exist, at any depth. Names that begin with `_` are ignored: they are
 * comments, or additions of a platform such as Airbyte's `__injected_declarative_manifest`. Accepts any JSON, valid
 * or not.
 */
export function unknownSettings(input: unknown, own: OwnSettings = {}): string[] {
  // One file can configure both reading and writing, so the settings of both are known.
  const [reading, writing] = [configSchema(), writeSettingsSchema()]
  const properties = { ...reading.properties, ...writing.properties, ...own }
  return unknownIn(input, { ...reading, properties })
}

/** The collections whose references the service adds to records of some stream. */
const embedded: ReadonlySet<string> = new Set(
  Object.values(collections).flatMap((facts) => ('references' in facts ? facts.references : [])),
)

function unknownIn(input: unknown, schema: SettingsSchema): string[] {
  const chosen = chosenEnvironment(schema, input)
  const type = chosen?.properties?.['type']?.['const']
  const everywhere = pathsOf(schema, '')
  return walk(input, schema, '')

  function walk(value: unknown, at: SettingsSchema, path: string): string[] {
    if (Array.isArray(value))
      return value.flatMap((item, i) => walk(item, at.items ?? {}, `${path}${i}.`))
    if (typeof value !== 'object' || value === null) return []
    const known = path === 'environment.' && chosen !== undefined ? chosen : at
    const properties = propertiesOf(known)
    return Object.entries(value).flatMap(([name, member]) => {
      const property = properties[name]
      if (property !== undefined) return walk(member, property, `${path}${name}.`)
      if (name.startsWith('_')) return []
      if (propertiesOf(at)[name] !== undefined)
        return warningOf(
          'setting-of-another-environment',
          `${path}${name} is not a setting of the environment ${type}.`,
        )
      return unknown(path, name, Object.keys(properties))
    })
  }

  function unknown(path: string, name: string, siblings: readonly string[]): string {
    const sibling = nearest(name, siblings)
    const meant =
      sibling === undefined
        ? everywhere.find((other) => other.endsWith(`.${name}`))
        : `${path}${sibling}`
    return meant === undefined
      ? warningOf('unknown-setting', `${path}${name} is not a setting.`)
      : warningOf('unknown-setting', `${path}${name} is not a setting; did you mean ${meant}?`)
  }
}

/** The properties of a schema and of all its alternatives. */
function propertiesOf({
  properties = {},
  oneOf = [],
}: SettingsSchema): Readonly<Record<string, SettingsSchema>> {
  return Object.assign(Object.create(null), properties, ...oneOf.map((option) => option.properties))
}

function pathsOf(schema: SettingsSchema, prefix: string): string[] {
  return Object.entries(propertiesOf(schema)).flatMap(([name, property]) => [
    `${prefix}${name}`,
    ...pathsOf(property, `${prefix}${name}.`),
  ])
}

/** One sentence for each collection whose references are requested although no record can have them. */
export function referencesWithoutRecords(input: unknown): string[] {
  const choices = (input as { external_references?: unknown } | null)?.external_references
  if (!Array.isArray(choices)) return []
  const names = choices.map((choice) => (choice as { collection?: unknown } | null)?.collection)
  return referencedCollections
    .filter((collection) => names.includes(collection) && !embedded.has(collection))
    .map(
      (collection) =>
        `external_references: the service adds the references of ${collection} to no record; they are only in the stream external_references.`,
    )
}
