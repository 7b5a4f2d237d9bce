/** A custom external reference: `value` names the record `internalReference` of a collection. */
export interface ExternalReference {
  readonly collection: string
  readonly name: string
  readonly value: string
  readonly internalReference: string | null
}

/** One answer of the list of a collection's references. */
export interface ReferencePage {
  readonly references: readonly ExternalReference[]
  readonly nextLink?: string
}

/**
 * Reads the answer of `GET /external-references/{collection}`, or of one name of it, whose bodies the
 * service's documentation does not show. Taken are a list of objects, bare or in `value`, whose members name the
 * reference, its value and the internal id in any of the usual spellings, and objects that hold
 * such lists, or values and ids, by reference name. Throws a SyntaxError with a reason for a body
 * that is not JSON or has none of these forms.
 */
export function parseReferencePage(text: string, collection: string, name?: string): ReferencePage {
  const body = parseExactly(text)
  const envelope = lowerCased(body)
  const nextLink = envelope?.['nextlink']
  const known = name === undefined ? {} : { name }
  const references = rows(contentOf(body), known).map((row) => complete(row, collection))
  return typeof nextLink === 'string' && nextLink !== '' ? { references, nextLink } : { references }
}

/**
 * Reads the answer of `GET /external-references/{collection}/{name}/{value}`: the id alone, an object with
 * it, or one of the forms of the list. The value is as the service has it, where that differs in case alone. Throws a SyntaxError for a body that is not JSON.
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

/** A number of which a double might not keep every digit, or how it is written; or the like in a text. */
const LOSSY = /(^|[:[,\s])-?(\d{16}|\d+[.eE])/
const TEXT_OR_NUMBER = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g

/** The value of a JSON text, where such numbers are texts: values tell references apart, and so must all their digits. */
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
    // The message of JSON.parse repeats a part of the text, which may be what is left out.
    throw new SyntaxError('it is not JSON')
  }
}

/** What an envelope holds, or the body itself. */
function contentOf(body: unknown): unknown {
  const value = lowerCased(body)?.['value']
  return typeof value === 'object' && value !== null ? value : body
}

/** How the parts of a reference may be called, in small letters. */
const NAMES = ['referencename', 'name', 'reference', 'externalreferencename']
const VALUES = ['externalreference', 'referencevalue', 'externalreferencevalue', 'value']
const IDS = ['internalreference', 'internalid', 'id']
const KNOWN: ReadonlySet<string> = new Set(['nextlink', ...NAMES, ...VALUES, ...IDS])
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
  for (const key in input as object) {
    if (/^(nextlink|deltalink)$/i.test(key)) continue
    for (const one of below(key, (input as Record<string, unknown>)[key], row)) found.push(one)
  }
  return found
}

/** The lists of an object that has a part of each of their references, such as the name. */
function lists(object: object, known: Row): Row[] {
  const found = Object.values(object).filter(Array.isArray)
  if (found.length === 0) throw new SyntaxError('a reference has no name or no value')
  return found.flatMap((list) => rows(list, known))
}

/** What an object holds by reference name, or below a name by reference value. */
function below(key: string, value: unknown, known: Row): Row[] {
  // The references of one name may stand under it, too.
  const isContainer = typeof value === 'object' && value !== null
  if (key === known.name && isContainer) return rows(value, known)
  if (known.name === undefined) {
    if (isContainer) return rows(value, { ...known, name: key })
    throw new SyntaxError('a reference has no name or no value')
  }
  return [{ ...known, value: key, ...idOf(value) }]
}

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

/** The members of an object that mean something here, by their names in small letters; it may have many others. */
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
