import { ClientError } from '../client/client-error.ts'
import { type JobCategory, LATE_MS, type TranslatedText } from '../client/service-client.ts'
import { folded, formOf, isBlank } from '../ground/text.ts'
import { statusIs } from '../http/status.ts'
import type { ObjectTools } from './object-tools.ts'
import { refusalOf, type Verdict } from './outcome.ts'
import { NAMELESS, type WantedNamed } from './read-record.ts'
import { groupBy } from './task-pool.ts'

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
    translations: translations === null ? {} : withTexts(kept.translations, translations),
    text: text ?? '',
  }
}

/** Adds texts by language, in the service's spelling of it if there is one: the case of a language does not count. */
function withTexts(
  kept: NamedFields['translations'],
  added: Readonly<Record<string, string | null>>,
): NamedFields['translations'] {
  const names = new Map(Object.keys(kept).map((name) => [name.toLowerCase(), name]))
  const texts = Object.entries(added).map(([name, text]) => [
    names.get(name.toLowerCase()) ?? name,
    text,
  ])
  return sorted({ ...kept, ...Object.fromEntries(texts) })
}

/** The fields of a record that does not exist yet. */
export const EMPTY: NamedFields = { defaultName: '', translations: {}, text: '' }

/** Whether a record would change nothing: spaces at the ends of texts and their Unicode form do not count. */
export function areSame(a: NamedFields, b: NamedFields): boolean {
  return JSON.stringify(a, foldedText) === JSON.stringify(b, foldedText)
}

function foldedText(_member: string, value: unknown): unknown {
  return typeof value === 'string' ? folded(value) : value
}

/** The name in the service's form, without translations if there are none. */
export function nameOf({ defaultName, translations }: NamedFields): TranslatedText {
  const hasTranslations = Object.keys(translations).length > 0
  return { default: defaultName, ...(hasTranslations && { translations }) }
}

function sorted(texts: Readonly<Record<string, string | null>>): Readonly<Record<string, string>> {
  const filled = Object.entries(texts).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string' && !isBlank(entry[1]),
  )
  return Object.fromEntries(filled.toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

/** The change that one record wants. */
export interface NamedChange {
  readonly ordinal: number
  readonly wanted: WantedNamed
}

/** The verdict on a record, and what its job category should have now; without an id it was not found. */
interface Change {
  readonly verdict: Verdict
  readonly id?: string
  readonly fields?: NamedFields
}

/** A job category with a request that may still have its effect, and the records that wait for it. */
interface Uncertain {
  fields: NamedFields
  readonly verdicts: Map<number, Verdict>
}

/**
 * Reads each job category, merges the record with it, and puts all fields if they differ: a PUT empties what it leaves
 * out. What was not answered with certainty is read at the end.
 */
export async function applyJobCategories(
  changes: readonly NamedChange[],
  { client, pool, settings, settle, time, signal }: ObjectTools,
): Promise<void> {
  const { jobCategories } = client
  const { missingFields } = settings
  const uncertain = new Map<string, Uncertain>()
  await pool.each(inOrderOfKey(changes), async (sequence) => {
    for (const { ordinal, wanted } of sequence) {
      const { verdict, id = '', fields } = await change(wanted).catch(refused)
      const waiting = uncertain.get(id)
      if (waiting === undefined || fields === undefined) settle(ordinal, verdict)
      else {
        waiting.fields = fields
        waiting.verdicts.set(ordinal, verdict)
      }
    }
  })
  if (uncertain.size === 0) return
  await time.sleep(LATE_MS, signal)
  await pool.each([...uncertain], async ([id, { fields, verdicts }]) => {
    const now = await fieldsNow(id).catch((error: unknown) => void refusalOf(error))
    const isKept = areSame(fields, now ?? EMPTY)
    for (const [ordinal, verdict] of verdicts) settle(ordinal, isKept ? verdict : UNDONE)
  })

  async function change(wanted: WantedNamed): Promise<Change> {
    const { defaultName, also, key } = wanted
    // This needs no request.
    if (defaultName === '' || (defaultName === undefined && missingFields === 'empty'))
      return { verdict: NAMELESS }
    for (const reference of also) {
      const other = (await jobCategories.get(reference))?.record.id
      if (other !== undefined && !('id' in key && other === key.id))
        return { verdict: contradiction(reference.name) }
    }
    return attempt(wanted, false)
  }

  /**
   * Puts by the id that was read, whatever key was used. Reads and merges once more if somebody else wrote in between,
   * and reads again to check the fields that it emptied.
   */
  async function attempt(wanted: WantedNamed, isSecond: boolean): Promise<Change> {
    const found = await jobCategories.get(wanted.key)
    if (found === undefined) return { verdict: ABSENT }
    const { record, etag } = found
    const { id, changeVersion: _version, ...before } = record
    const current = fieldsOfCategory(record)
    const fields = mergeNamed(current, wanted, missingFields)
    if (fields.defaultName === '') return { verdict: NAMELESS }
    // A PUT empties what it leaves out, also what this version does not know.
    const name = { ...before.name, translations: undefined, ...nameOf(fields) }
    const body = { ...before, name, externalCode: fields.text || undefined }
    // A PUT that is answered with 412 may be ours, if the answer to the first attempt was lost.
    if (areSame(current, fields))
      return { verdict: { outcome: isSecond ? 'written' : 'skipped' }, id, fields }
    const onUncertain = () => {
      if (!uncertain.has(id)) uncertain.set(id, { fields, verdicts: new Map() })
    }
    // A proxy that compresses makes ETags weak, and a service may never accept those.
    const expected = isSecond && etag?.startsWith('W/') ? undefined : etag
    try {
      await jobCategories.put({ id }, body, expected, { onUncertain })
    } catch (error) {
      if (etag !== undefined && !isSecond && isOutdated(error)) return attempt(wanted, true)
      throw error
    }
    const kept = await keptOf(id, current, fields)
    return { verdict: kept.length === 0 ? { outcome: 'written' } : keptVerdict(kept), id, fields }
  }

  /** Fields that should be empty and are not. */
  async function keptOf(id: string, before: NamedFields, after: NamedFields): Promise<string[]> {
    const emptied = fieldsLost(before, after)
    const now = emptied.length === 0 ? undefined : await fieldsNow(id)
    if (now === undefined) return []
    const lost = new Set(fieldsLost(before, now))
    return emptied.filter((field) => !lost.has(field))
  }

  async function fieldsNow(id: string): Promise<NamedFields | undefined> {
    const record = (await jobCategories.get({ id }))?.record
    return record && fieldsOfCategory(record)
  }
}

function fieldsOfCategory({ name, externalCode }: JobCategory): NamedFields {
  return fieldsOf({ name, text: externalCode })
}

function refused(error: unknown): Change {
  return { verdict: refusalOf(error) }
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

function contradiction(name: string): Verdict {
  return {
    outcome: 'rejected',
    reason: `The id and the external reference ${name} identify different job categories. Leave out the one that is wrong.`,
  }
}

function keptVerdict(fields: readonly string[]): Verdict {
  return {
    outcome: 'rejected',
    reason: `The service has kept ${fields.join(' and ')}, which the record empties: it keeps fields that a PUT leaves out. All other fields are as in the record.`,
  }
}

const UNDONE: Verdict = {
  outcome: 'unknown',
  reason:
    'The service did not confirm a request for this job category, and it has other fields now than were requested last. Write the record again later.',
}

const ABSENT: Verdict = {
  outcome: 'rejected',
  status: 404,
  reason: 'There is no job category with this key, and this API cannot create one.',
}

/**
 * The changes as sequences that may run in parallel. Different keys of one kind identify different records, unless
 * they differ only in case or blanks; an id and a reference may identify the same one, so mixed changes form one
 * sequence.
 */
function inOrderOfKey(changes: readonly NamedChange[]): readonly (readonly NamedChange[])[] {
  const kinds = new Set(changes.map(({ wanted: { key } }) => ('id' in key ? '' : key.name)))
  if (kinds.size > 1) return [changes]
  return groupBy(changes, ({ wanted: { key } }) => ('id' in key ? key.id : formOf(key.value)))
}
