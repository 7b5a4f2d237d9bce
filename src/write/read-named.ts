import { nameFault } from '../client/reference-rules.ts'
import type { RecordKey } from '../client/service-client.ts'
import type { Verdict } from './outcome.ts'
import { objectOf, type Reading, read, rejected, textOf } from './read-members.ts'

/** The optional text of a record beside its name. */
export type TextField = 'externalCode' | 'description'

/**
 * A record of job_categories or work_locations, as far as it is well formed. Undefined stands for what
 * it leaves out, null or an empty text for what is to be empty; the default name never is, so that null
 * leaves it out.
 */
export interface WantedNamed {
  readonly key: RecordKey
  readonly defaultName: string | undefined
  readonly translations: Readonly<Record<string, string | null>> | null | undefined
  readonly text: string | null | undefined
}

/** What is particular to records of one object. */
export interface NamedRules {
  /** The member beside the name. */
  readonly textField: TextField
  /** The custom reference that is the key of records without an id. */
  readonly reference: string | undefined
  /** The setting that names it. */
  readonly setting: string
}

/** The verdict on a record that would leave what it writes without a name. */
export const NAMELESS: Verdict = { outcome: 'rejected', reason: 'The record has no name.default.' }

/** In code points: the service does not say what it counts, and may allow fewer. */
const MAX_EXTERNAL_CODE = 50

/** Reads a record; one that cannot be sent is rejected with the reason. */
export function readNamed(
  data: Readonly<Record<string, unknown>>,
  rules: NamedRules,
): Reading<WantedNamed> {
  return read(() => {
    const key = readKey(data, rules)
    const text = textOf(data, rules.textField)
    if (rules.textField === 'externalCode' && [...(text ?? '')].length > MAX_EXTERNAL_CODE)
      throw rejected(`The externalCode is longer than ${MAX_EXTERNAL_CODE} characters.`)
    if (typeof data['name'] === 'string')
      return { key, defaultName: textOf(data, 'name') ?? undefined, translations: undefined, text }
    const name = objectOf(data, 'name') ?? {}
    const translations = objectOf(name, 'translations')
    return {
      key,
      defaultName: textOf(name, 'default') ?? undefined,
      translations: translations && readTranslations(translations),
      text,
    }
  })
}

function readTranslations(
  given: Readonly<Record<string, unknown>>,
): Readonly<Record<string, string | null>> {
  const texts = Object.keys(given).map((language) => [language, textOf(given, language) ?? null])
  return Object.fromEntries(texts)
}

function readKey(data: Readonly<Record<string, unknown>>, rules: NamedRules): RecordKey {
  const { reference, setting } = rules
  const id = textOf(data, 'id')
  if (id !== undefined && id !== null) {
    if (!/^(0|[1-9]\d*)$/.test(id)) throw rejected('The id is not a whole number.')
    return { id }
  }
  const references = objectOf(data, 'externalReferences') ?? {}
  const names = Object.keys(references)
  const [name, ...others] = reference === undefined ? names : [reference]
  if (name === undefined)
    throw rejected('The record has neither an id nor externalReferences: one of them is its key.')
  if (others.length > 0)
    throw rejected(`The record has several externalReferences: set ${setting} to the key's name.`)
  const fault = nameFault(name)
  if (fault !== undefined) throw rejected(fault)
  const value = textOf(references, name)
  if (value === undefined || value === null || value === '')
    throw rejected(`The record has neither an id nor the external reference ${name}.`)
  return { name, value }
}
