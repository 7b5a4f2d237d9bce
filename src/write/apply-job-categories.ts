import { ClientError } from '../client/client-error.ts'
import type { JobCategories, JobCategoryBody, TranslatedText } from '../client/service-client.ts'
import { folded } from '../ground/text.ts'
import { statusIs } from '../http/status.ts'
import { refusalOf, type Verdict } from './outcome.ts'
import { type ByReference, NAMELESS, type WantedNamed } from './read-record.ts'
import { groupBy, type TaskPool } from './task-pool.ts'
import type { WriteClient } from './write-client.ts'

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

/** Whether a record would change nothing but, where it is folded, blanks at an end and the form of characters. */
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

/**
 * What became of a job category, and what it has now; `absent`: there is none with the key; `kept`: the service
 * has kept fields that a PUT has left out, and done the rest.
 */
export type JobCategoryChange =
  | { readonly outcome: 'absent' | 'nameless' }
  | { readonly outcome: 'kept'; readonly kept: readonly string[] }
  | {
      readonly outcome: 'written' | 'skipped'
      readonly id: string
      readonly body: JobCategoryBody
      /** What is equal is so but for blanks at an end and the form of characters. */
      readonly isFolded: boolean
    }

/** Says which fields the service does not empty. */
export function keptInWords(fields: readonly string[]): string {
  return `The service has kept ${fields.join(' and ')}, which the record empties: it keeps fields that a PUT leaves out. All other fields are as in the record.`
}

/**
 * Reads a job category, merges what is wanted with it, and puts it whole where they differ: a PUT empties
 * what it leaves out. What was read is what is put: by its id, whatever it was found by. Reads and merges once
 * more where somebody else wrote it in between, and reads what was to be emptied. A job category that would lose
 * its name is left as it is (`nameless`). Throws what the client throws.
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
    // What was put and answered by 412 may be ours: the answer to the first attempt was lost then.
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

  /** What was to be emptied and is there all the same. */
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

/** The fields that have a value before and none after. */
function fieldsLost(before: NamedFields, after: NamedFields): string[] {
  const languages = Object.keys(before.translations).filter(
    (language) => after.translations[language] === undefined,
  )
  return [
    ...(before.text !== '' && after.text === '' ? ['externalCode'] : []),
    ...languages.map((language) => `name.translations.${language}`),
  ]
}

/** Somebody else wrote it since it was read; the documents name 409 for it, HTTP 412. */
function isOutdated(error: unknown): boolean {
  return error instanceof ClientError && statusIs(error.status, 'outdated')
}

/** What one record asks for. */
export interface NamedChange {
  readonly ordinal: number
  readonly wanted: WantedNamed
}

/** What changes of job categories are applied with. */
export interface JobCategoryTools {
  readonly client: WriteClient
  readonly pool: TaskPool
  readonly missingFields: 'keep' | 'empty'
  /** Told once for each record, when its verdict is final. */
  readonly settle: (ordinal: number, verdict: Verdict) => void
}

/** Reads each job category, merges the record with it, and writes it whole where they differ. */
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
    // Known without a request.
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
 * The changes as sequences that may run side by side. Keys of one kind name different records if they
 * differ; an id and a reference may name the same one, so that mixed changes are one sequence.
 */
function inOrderOfKey(changes: readonly NamedChange[]): readonly (readonly NamedChange[])[] {
  const kinds = new Set(changes.map(({ wanted: { key } }) => ('id' in key ? '' : key.name)))
  if (kinds.size > 1) return [changes]
  return groupBy(changes, ({ wanted: { key } }) => ('id' in key ? key.id : key.value))
}
