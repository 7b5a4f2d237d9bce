import type { TranslatedText } from '../client/service-client.ts'
import type { WantedNamed } from './read-named.ts'

/** What can be written of a record with a name, in one form: equal records are equal as JSON. */
export interface NamedFields {
  readonly defaultName: string
  /** Without empty ones, in the order of their languages. */
  readonly translations: Readonly<Record<string, string>>
  readonly text: string
}

/** Fields as the service has them; undefined for a record that is to be created. */
export interface CurrentNamed {
  readonly name?: Partial<TranslatedText> | null
  readonly text?: string | null | undefined
}

/** The fields that the service has. */
export function fieldsOf({ name, text }: CurrentNamed): NamedFields {
  return {
    defaultName: name?.default ?? '',
    translations: sorted(name?.translations ?? {}),
    text: text ?? '',
  }
}

/**
 * The fields that a record wants. What it leaves out stays as it is (`keep`), each translation too, or
 * becomes empty (`empty`); what is null or an empty text becomes empty.
 */
export function mergeNamed(
  current: NamedFields,
  wanted: Omit<WantedNamed, 'key'>,
  missing: 'keep' | 'empty',
): NamedFields {
  const kept = missing === 'keep' ? current : EMPTY
  const { defaultName = kept.defaultName, translations = {}, text = kept.text } = wanted
  return {
    defaultName,
    translations: translations === null ? {} : sorted({ ...kept.translations, ...translations }),
    text: text ?? '',
  }
}

/** The fields of a record that does not exist yet. */
export const EMPTY: NamedFields = { defaultName: '', translations: {}, text: '' }

/** Whether a record would change nothing. */
export function isEqual(a: NamedFields, b: NamedFields): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}

/** The name as the service takes it, without translations where there are none. */
export function nameOf({ defaultName, translations }: NamedFields): TranslatedText {
  const hasTranslations = Object.keys(translations).length > 0
  return { default: defaultName, ...(hasTranslations && { translations }) }
}

function sorted(texts: Readonly<Record<string, string | null>>): Readonly<Record<string, string>> {
  const filled = Object.entries(texts).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string' && entry[1] !== '',
  )
  return Object.fromEntries(filled.toSorted(([a], [b]) => (a < b ? -1 : 1)))
}
