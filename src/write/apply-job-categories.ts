import { ClientError } from '../client/client-error.ts'
import type { JobCategories, JobCategoryBody, TranslatedText } from '../client/service-client.ts'
import { folded } from '../ground/text.ts'
import { statusIs } from '../http/status.ts'
import { refusalOf, type Verdict } from './outcome.ts'
import { type ByReference, NAMELESS, type WantedNamed } from './read-record.ts'
import { groupBy, type TaskPool } from './task-pool.ts'
import type { WriteClient } from './write-client.ts'

/** The writable fields of a record with a name, in one form: equal records have equal JSON. */
export interface NamedFields {
  readonly defaultName: string
  /** Without empty ones, ordered by language. */
  readonly translations: Readonly<Record<string, string>>
  readonly text: string
}

/** The service's fields; undefined for a record that is to be created. */
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
 * The fields of a record merged with those of the service. Fields and translations that the record leaves out
 * stay as they are (`keep`), or become empty (`empty`); null or an empty text becomes empty.
 */
export function mergeNamed(
  current: NamedFields,
  wanted: Omit<WantedNamed, 'key' | 'also'>,
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

/**
 * Whether a record would change nothing; if folded, spaces at the ends and the Unicode form are ignored.
 */
export function differenceOf(a: NamedFields, b: NamedFields): 'none' | 'folded' | 'real' {
  const [one, other] = [JSON.stringify(a), JSON.stringify(b)]
  if (one === other) return 'none'
  return JSON.stringify(foldedFields(a)) === JSON.stringify(foldedFields(b)) ? 'folded' : 'real'
}

function foldedFields({ defaultName, translations, text }: NamedFields): NamedFields {
  return {
    defaultName: folded(defaultName),
    translations: sorted(
      Object.fromEntries(Object.entries(translations).map(([key, value]) => [key, folded(value)])),
    ),
    text: folded(text),
  }
}

/** The name in the service's form, without translations if there are none. */
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

/**
 * The outcome for a job category, and its fields now; `absent`: there is none with the key; `kept`: the
 * service has kept fields that a PUT has left out, and changed the rest.
 */
export type JobCategoryChange =
  | { readonly outcome: 'absent' | 'nameless' }
  | { readonly outcome: 'kept'; readonly kept: readonly string[] }
  | {
      readonly outcome: 'written' | 'skipped'
      readonly id: string
      readonly body: JobCategoryBody
      /** The fields are equal except for spaces at the ends and the Unicode form. */
      readonly isFolded: boolean
    }

/** Says which fields the service does not empty. */
export function keptInWords(fields: readonly string[]): string {
  return `The service has kept ${fields.join(' and ')}, which the record empties: it keeps fields that a PUT leaves out. All other fields are as in the record.`
}

/**
 * Reads a job category, merges the wanted fields, and puts all fields if they differ: a PUT empties what it
 * leaves out. It puts by the id that it has read, whatever key was used. It reads and merges once more if
 * somebody else wrote in between, and reads again to check the fields that it emptied. A job category that
 * would lose its name is not changed (`nameless`). Throws what the client throws.
 */
export async function changeJobCategory(
  jobCategories: Pick<JobCategories, 'get' | 'put'>,
  wanted: Omit<WantedNamed, 'also'>,
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
    const difference = differenceOf(current, merged)
    const change = { id, body, isFolded: difference === 'folded' }
    // A PUT that is answered with 412 may be ours, if the answer to the first attempt was lost.
    if (difference !== 'real') return { outcome: isSecond ? 'written' : 'skipped', ...change }
    try {
      await jobCategories.put({ id }, body, etag)
    } catch (error) {
      if (etag !== undefined && !isSecond && isOutdated(error)) return attempt(true)
      throw error
    }
    const kept = await keptOf(id, current, merged)
    return kept.length === 0 ? { outcome: 'written', ...change } : { outcome: 'kept', kept }
  }

  /** Fields that should be empty and are not. */
  async function keptOf(id: string, before: NamedFields, after: NamedFields): Promise<string[]> {
    const emptied = fieldsLost(before, after)
    if (emptied.length === 0) return []
    const found = await jobCategories.get({ id })
    if (found === undefined) return []
    const { name, externalCode } = found.record
    const lost = new Set(fieldsLost(before, fieldsOf({ name, text: externalCode })))
    return emptied.filter((field) => !lost.has(field))
  }
}

/** The fields that have a value before and none afterwards. */
function fieldsLost(before: NamedFields, after: NamedFields): string[] {
  const languages = Object.keys(before.translations).filter(
    (language) => after.translations[language] === undefined,
  )
  return [
    ...(before.text !== '' && after.text === '' ? ['externalCode'] : []),
    ...languages.map((language) => `name.translations.${language}`),
  ]
}

/** Somebody else has written it since it was read; the documents name 409 for it, HTTP 412. */
function isOutdated(error: unknown): boolean {
  return error instanceof ClientError && statusIs(error.status, 'outdated')
}

/** The change that one record wants. */
export interface NamedChange {
  readonly ordinal: number
  readonly wanted: WantedNamed
}

/** The tools to apply changes of job categories. */
export interface JobCategoryTools {
  readonly client: WriteClient
  readonly pool: TaskPool
  readonly missingFields: 'keep' | 'empty'
  /** Called once for each record, when its verdict is final. */
  readonly settle: (ordinal: number, verdict: Verdict) => void
}

/** Reads each job category, merges the record with it, and writes it completely if they differ. */
export async function applyJobCategories(
  changes: readonly NamedChange[],
  tools: JobCategoryTools,
): Promise<void> {
  const { client, pool, missingFields, settle } = tools
  await pool.each(inOrderOfKey(changes), async (sequence) => {
    for (const { ordinal, wanted } of sequence) settle(ordinal, await change(wanted))
  })

  async function change(wanted: WantedNamed): Promise<Verdict> {
    const { defaultName } = wanted
    // This needs no request.
    if (defaultName === '' || (defaultName === undefined && missingFields === 'empty'))
      return NAMELESS
    try {
      for (const reference of wanted.also) {
        const other = await idOf(reference)
        if (other === undefined || ('id' in wanted.key && other === wanted.key.id)) continue
        return contradiction(reference.name)
      }
      const change = await changeJobCategory(client.jobCategories, wanted, missingFields)
      switch (change.outcome) {
        case 'absent':
          return ABSENT
        case 'nameless':
          return NAMELESS
        case 'kept':
          return { outcome: 'rejected', reason: keptInWords(change.kept) }
        default:
          return { outcome: change.outcome, ...(change.isFolded && { folded: true }) }
      }
    } catch (error) {
      return refusalOf(error)
    }
  }

  async function idOf(reference: ByReference): Promise<string | undefined> {
    return (await client.jobCategories.get(reference))?.record.id
  }
}

function contradiction(name: string): Verdict {
  return {
    outcome: 'rejected',
    reason: `The id and the external reference ${name} identify different job categories. Leave out the one that is wrong.`,
  }
}

const ABSENT: Verdict = {
  outcome: 'rejected',
  status: 404,
  reason: 'There is no job category with this key, and this API cannot create one.',
}

/**
 * The changes as sequences that may run in parallel. Different keys of one kind identify different records,
 * but an id and a reference may identify the same one, so mixed changes form one sequence.
 */
function inOrderOfKey(changes: readonly NamedChange[]): readonly (readonly NamedChange[])[] {
  const kinds = new Set(changes.map(({ wanted: { key } }) => ('id' in key ? '' : key.name)))
  if (kinds.size > 1) return [changes]
  return groupBy(changes, ({ wanted: { key } }) => ('id' in key ? key.id : key.value))
}
