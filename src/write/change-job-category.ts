import { ClientError } from '../client/client-error.ts'
import type { JobCategories, JobCategoryBody, TranslatedText } from '../client/service-client.ts'
import { statusIs } from '../http/status.ts'
import type { WantedNamed } from './read-record.ts'

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

/** What became of a job category, and what it has now; `absent`: there is none with the key. */
export type JobCategoryChange =
  | { readonly outcome: 'absent' | 'nameless' }
  | { readonly outcome: 'written' | 'skipped'; readonly id: string; readonly body: JobCategoryBody }

/**
 * Reads a job category, merges what is wanted with it, and puts it whole where they differ: a PUT empties
 * what it leaves out. Reads and merges once more where somebody else wrote it in between. A job category
 * that would lose its name is left as it is (`nameless`). Throws what the client throws.
 */
export async function changeJobCategory(
  jobCategories: Pick<JobCategories, 'get' | 'put'>,
  wanted: WantedNamed,
  missingFields: 'keep' | 'empty',
): Promise<JobCategoryChange> {
  const { key } = wanted
  return attempt(false)

  async function attempt(isSecond: boolean): Promise<JobCategoryChange> {
    const found = await jobCategories.get(key)
    if (found === undefined) return { outcome: 'absent' }
    const { record, etag } = found
    const current = fieldsOf({ name: record.name, text: record.externalCode })
    const merged = mergeNamed(current, wanted, missingFields)
    if (merged.defaultName === '') return { outcome: 'nameless' }
    const { id } = record
    const body = { name: nameOf(merged), ...(merged.text !== '' && { externalCode: merged.text }) }
    // What was put and answered by 412 may be ours: the answer to the first attempt was lost then.
    if (isEqual(current, merged)) return { outcome: isSecond ? 'written' : 'skipped', id, body }
    try {
      await jobCategories.put(key, body, etag)
    } catch (error) {
      if (etag !== undefined && !isSecond && isOutdated(error)) return attempt(true)
      throw error
    }
    return { outcome: 'written', id, body }
  }
}

/** Somebody else wrote it since it was read; the documents name 409 for it, HTTP 412. */
function isOutdated(error: unknown): boolean {
  return error instanceof ClientError && statusIs(error.status, 'outdated')
}
