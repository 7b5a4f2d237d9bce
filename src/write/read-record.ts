import { idFault, nameFault, valueFault } from '../client/references.ts'
import type { RecordKey } from '../client/service-client.ts'
import { isBlank, nearest } from '../ground/text.ts'
import { referencedCollections } from '../streams/collections.ts'
import type { Verdict } from './outcome.ts'

/** The content of a record, or why it cannot be sent. */
export type RecordReading<T> = { readonly wanted: T } | { readonly rejection: Verdict }

class Rejection extends Error {}

/** Why a record cannot be sent, in a sentence; thrown within `read`. */
function rejected(reason: string): Error {
  return new Rejection(reason)
}

/** Reads a record by a function that throws `rejected`. */
function read<T>(reader: () => T): RecordReading<T> {
  try {
    return { wanted: reader() }
  } catch (error) {
    if (!(error instanceof Rejection)) throw error
    return { rejection: { outcome: 'rejected', reason: error.message } }
  }
}

/**
 * A member as text; whole numbers are accepted too, because warehouses have codes and ids in numeric columns.
 * Undefined if it is missing, null if it is null, empty if nobody can see anything of it.
 */
function textOf(
  data: Readonly<Record<string, unknown>>,
  member: string,
): string | null | undefined {
  const value = data[member]
  if (value === undefined || value === null) return value
  if (typeof value === 'number' && Number.isSafeInteger(value)) return String(value)
  if (Number.isInteger(value))
    throw rejected(`The ${member} is too large to be an exact number: send it as a text.`)
  if (typeof value !== 'string')
    throw rejected(`The ${member} is neither a text nor a whole number.`)
  if (/\p{Surrogate}/u.test(value)) throw rejected(`The ${member} is not well-formed Unicode.`)
  return isBlank(value) ? '' : value
}

/** A member that is an object; undefined if it is missing, null if it is null. */
function objectOf(
  data: Readonly<Record<string, unknown>>,
  member: string,
): Readonly<Record<string, unknown>> | null | undefined {
  const value = data[member]
  if (value === undefined || value === null) return value
  if (typeof value !== 'object' || Array.isArray(value))
    throw rejected(`The ${member} is not an object.`)
  return value as Readonly<Record<string, unknown>>
}

/** A key that is not an id. */
export type ByReference = Exclude<RecordKey, { readonly id: string }>

/** The optional text of a record beside its name. */
type TextField = 'externalCode' | 'description'

/**
 * A valid record of job_categories or work_locations. Undefined means left out; null or an empty text means
 * that the field should become empty. The default name is never emptied, so null leaves it out.
 */
export interface WantedNamed {
  readonly key: RecordKey
  /** References of the record beside its id: they must identify the same record. */
  readonly also: readonly ByReference[]
  readonly defaultName: string | undefined
  readonly translations: Readonly<Record<string, string | null>> | null | undefined
  readonly text: string | null | undefined
}

/** The properties of the records of one object. */
export interface NamedRules {
  /** The member beside the name. */
  readonly textField: TextField
  /** The custom reference that is the key of records without an id. */
  readonly reference: string | undefined
  /** The setting with its name. */
  readonly setting: string
}

/** The verdict on a record that would leave its target without a name. */
export const NAMELESS: Verdict = { outcome: 'rejected', reason: 'The record has no name.default.' }

/** In code points: the service does not say what counts as a character, and may allow fewer. */
const MAX_EXTERNAL_CODE = 50

/** Reads a record; one that cannot be sent is rejected with the reason. */
export function readNamed(
  data: Readonly<Record<string, unknown>>,
  rules: NamedRules,
): RecordReading<WantedNamed> {
  return read(() => {
    const { key, also } = readKeys(data, rules)
    const text = textOf(data, rules.textField)
    if (rules.textField === 'externalCode' && [...(text ?? '')].length > MAX_EXTERNAL_CODE)
      throw rejected(`The externalCode is longer than ${MAX_EXTERNAL_CODE} characters.`)
    const given = data['name']
    const name = typeof given === 'string' ? { default: given } : (objectOf(data, 'name') ?? {})
    const translations = objectOf(name, 'translations')
    return {
      key,
      also,
      defaultName: textOf(name, 'default') ?? undefined,
      translations: translations && readTranslations(translations),
      text,
    }
  })
}

function readTranslations(
  given: Readonly<Record<string, unknown>>,
): Readonly<Record<string, string | null>> {
  const languages = new Map<string, string>()
  const texts = Object.keys(given).map((language) => {
    const other = languages.get(language.toLowerCase())
    languages.set(language.toLowerCase(), language)
    if (other !== undefined && given[other] !== given[language])
      throw rejected(`The translations ${other} and ${language} are of one language, but differ.`)
    return [language, textOf(given, language) ?? null]
  })
  return Object.fromEntries(texts)
}

function readKeys(
  data: Readonly<Record<string, unknown>>,
  rules: NamedRules,
): Pick<WantedNamed, 'key' | 'also'> {
  const { reference, setting } = rules
  const id = textOf(data, 'id')
  const given = objectOf(data, 'externalReferences') ?? {}
  const names = reference === undefined ? Object.keys(given) : [reference]
  if (id !== undefined && id !== null) {
    if (!/^(0|[1-9]\d*)$/.test(id)) throw rejected('The id is not a whole number.')
    const also = names.flatMap((name) => {
      const value = textOf(given, name)
      // A predefined reference cannot be our key.
      return value && nameFault(name) === undefined ? [{ name, value }] : []
    })
    return { key: { id }, also }
  }
  const [name, ...others] = names
  if (name === undefined)
    throw rejected('The record has neither an id nor externalReferences: one of them is its key.')
  if (others.length > 0)
    throw rejected(`The record has several externalReferences: set ${setting} to the key's name.`)
  const fault = nameFault(name)
  if (fault !== undefined) throw rejected(fault)
  const value = textOf(given, name)
  if (!value) throw rejected(`The record has neither an id nor the external reference ${name}.`)
  return { key: { name, value }, also: [] }
}

/** A valid record of external_references. */
export interface WantedReference {
  readonly collection: string
  readonly name: string
  readonly value: string
  /** Undefined deletes the value. */
  readonly id: string | undefined
  /** Whether `id` is the value of a reference that identifies the record, and still has to be looked up. */
  readonly isByReference?: true
}

/** The key of a record, as far as it could be read, and the value; with a value it is complete. */
export type ReferenceKey = Partial<
  Record<'collection' | 'name' | 'value' | 'internalReference', string>
>

/** The only collection whose ids are not numbers. */
const GUID_COLLECTION = 'activity-definitions'

/**
 * Reads a record; one that cannot be sent is rejected with the reason. Records of the collection `byReference` name
 * their target by a reference instead of its id.
 */
export function readReference(
  data: Readonly<Record<string, unknown>>,
  isDelete: boolean,
  byReference?: string,
): RecordReading<WantedReference> & { readonly key: ReferenceKey } {
  const key: ReferenceKey = {}
  const reading = read((): WantedReference => {
    const collection = required(data, 'collection')
    refuse(collectionFault(collection))
    key.collection = collection
    const name = required(data, 'name')
    key.name = name
    const value = required(data, 'value')
    refuse(nameFault(name) ?? valueFault(value))
    key.value = value
    if (isDelete) return { collection, name, value, id: undefined }
    const id = required(data, 'internalReference')
    if (collection === byReference) return { collection, name, value, id, isByReference: true }
    refuse(idFault(collection, id))
    key.internalReference = id
    return { collection, name, value, id: canonicalId(collection, id) }
  })
  return { ...reading, key }
}

/** Why a name is not a collection, if it is similar to one; the service judges all others. */
function collectionFault(name: string): string | undefined {
  const known: readonly string[] = referencedCollections
  if (known.includes(name)) return undefined
  const meant = nearest(name, known)
  return meant && `There are no references of ${name}; did you mean ${meant}?`
}

/** An id in the form in which ids are compared. */
export function canonicalId(collection: string, id: string): string {
  return collection === GUID_COLLECTION ? id.toLowerCase() : id
}

function required(data: Readonly<Record<string, unknown>>, member: string): string {
  const text = textOf(data, member)
  if (!text) throw rejected(`The record has no ${member}.`)
  return text
}

function refuse(fault: string | undefined): void {
  if (fault !== undefined) throw rejected(fault)
}
