import { nextLinkOf } from './envelope.ts'

/** A custom external reference: under this name and value, a collection's record has the id `internalReference`. */
export interface ExternalReference {
  readonly collection: string
  readonly name: string
  readonly value: string
  readonly internalReference: string | null
}

/** One page of the list of a collection's references. */
export interface ReferencePage {
  readonly references: readonly ExternalReference[]
  readonly nextLink?: string
}

/**
 * Parses the answer of `GET /external-references/{collection}`, or of one name in it. The service's documentation
 * does not show its form. Accepts a list of objects, bare or in `value`, whose members are the name, the value and
 * the internal id in any of the usual spellings; and objects that contain such lists, or values with ids, by the name
 * of the reference. Throws a SyntaxError with a reason for a body that is not JSON or has another form: an empty
 * object does not say that there are none.
 */
export function parseReferencePage(text: string, collection: string, name?: string): ReferencePage {
  const body = parseExactly(text)
  const nextLink = nextLinkOf(body)
  const known = name === undefined ? {} : { name }
  const references = rows(contentOf(body), known).map((row) => complete(row, collection))
  return nextLink === undefined ? { references } : { references, nextLink }
}

/**
 * Parses the answer of `GET /external-references/{collection}/{name}/{value}`: only the id, an object with it, or one
 * of the forms of the list. If the value of the answer differs only in case, it replaces the requested one. Throws a
 * SyntaxError for a body that is not JSON.
 */
export function parseReference(
  text: string,
  asked: Omit<ExternalReference, 'internalReference'>,
): ExternalReference {
  const content = contentOf(text.trim() === '' ? null : parseExactly(text))
  const { name, value } = asked
  const found = Array.isArray(content) || lowerCased(content) ? rows(content, { name, value }) : []
  const inCase = found.find((one) => one.value?.toLowerCase() === value.toLowerCase())
  const row = found.find((one) => one.value === value) ?? inCase ?? idOf(content)
  return {
    ...asked,
    value: row.value ?? value,
    internalReference: row.internalReference ?? null,
  }
}

/** Matches a number that a double or its text form may change, or a text that looks like one. */
const LOSSY = /(^|[:[,\s])-?(\d{16}|\d+[.eE])/
const TEXT_OR_NUMBER = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g

/**
 * Parses a JSON text, but turns such numbers into strings: references are identified by their values, so every digit
 * counts.
 */
function parseExactly(text: string): unknown {
  const value = parse(text)
  if (!LOSSY.test(text)) return value
  const isKept = (token: string) => token.startsWith('"') || /^-?\d{1,15}$/.test(token)
  return JSON.parse(text.replace(TEXT_OR_NUMBER, (token) => (isKept(token) ? token : `"${token}"`)))
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // The message of JSON.parse quotes a part of the text, which may be personal data.
    throw new SyntaxError('it is not JSON')
  }
}

/** The content of an envelope, or the body itself. */
function contentOf(body: unknown): unknown {
  const value = lowerCased(body)?.['value']
  return typeof value === 'object' && value !== null ? value : body
}

/** Possible names of the parts of a reference, in lower case. */
const NAMES = ['referencename', 'name', 'reference', 'externalreferencename']
const VALUES = ['externalreference', 'referencevalue', 'externalreferencevalue', 'value']
const IDS = ['internalreference', 'internalid', 'id']
const KNOWN: ReadonlySet<string> = new Set([...NAMES, ...VALUES, ...IDS])
const LONGEST_KNOWN = Math.max(...[...KNOWN].map(({ length }) => length))

interface Row {
  readonly name?: string
  readonly value?: string
  readonly internalReference?: string
}

function rows(input: unknown, known: Row): Row[] {
  if (Array.isArray(input)) return input.flatMap((item) => rows(item, known))
  const members = lowerCased(input)
  if (members === undefined) throw new SyntaxError('a reference is not an object')
  const own = named(members)
  const row = { ...known, ...own }
  if (row.name !== undefined && row.value !== undefined) return [row]
  if (Object.keys(own).length > 0) return lists(input as object, row)
  const found: Row[] = []
  // An object without any content could be an answer of any kind.
  if (Object.keys(input as object).length === 0) throw new SyntaxError('it is an empty object')
  for (const key in input as object) {
    if (/^(nextlink|deltalink)$/i.test(key)) continue
    for (const one of below(key, (input as Record<string, unknown>)[key], row)) found.push(one)
  }
  return found
}

/** Reads the lists in an object that has a part of each of their references, such as the name. */
function lists(object: object, known: Row): Row[] {
  const found = Object.values(object).filter(Array.isArray)
  if (found.length === 0) throw new SyntaxError('a reference has no name or no value')
  return found.flatMap((list) => rows(list, known))
}

/** Reads a member of an object with references by name, or, if the name is known, by value. */
function below(key: string, value: unknown, known: Row): Row[] {
  // The references of one name may be in an object under that name, too.
  const isContainer = typeof value === 'object' && value !== null
  if (key === known.name && isContainer) return rows(value, known)
  if (known.name === undefined) {
    if (isContainer) return rows(value, { ...known, name: key })
    throw new SyntaxError('a reference has no name or no value')
  }
  const id = idOf(value)
  // A member of an error, or of another envelope, is no reference.
  if (value !== null && !ID.test(id.internalReference ?? ''))
    throw new SyntaxError('a value has no id')
  return [{ ...known, value: key, ...id }]
}

/** A number or a GUID. */
const ID = /^(\d+|[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12})$/i

function named(members: Record<string, unknown>): Row {
  return {
    ...field('name', members, NAMES),
    ...field('value', members, VALUES),
    ...idOf(members),
  }
}

function idOf(value: unknown): Row {
  if (typeof value === 'string' || typeof value === 'number')
    return { internalReference: String(value) }
  const members = lowerCased(value)
  if (members === undefined) return {}
  return field('internalReference', members, IDS)
}

function field(to: keyof Row, members: Record<string, unknown>, names: readonly string[]): Row {
  for (const name of names) {
    const value = members[name]
    if (typeof value === 'string' || typeof value === 'number') return { [to]: String(value) }
  }
  return {}
}

function complete({ name, value, internalReference }: Row, collection: string): ExternalReference {
  if (name === undefined || value === undefined) {
    throw new SyntaxError('a reference has no name or no value')
  }
  return { collection, name, value, internalReference: internalReference ?? null }
}

/** The members of an object that have a known name, by their names in lower case; it may have many others. */
function lowerCased(value: unknown): Record<string, unknown> | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  const members: Record<string, unknown> = {}
  for (const key in value) {
    if (key.length > LONGEST_KNOWN) continue
    const name = key.toLowerCase()
    if (KNOWN.has(name)) members[name] = (value as Record<string, unknown>)[key]
  }
  return members
}
