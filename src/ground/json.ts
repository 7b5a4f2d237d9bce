/** A JSON object with unknown members. */
export type JsonObject = Readonly<Record<string, unknown>>

/** Whether a JSON value is an object, that is neither null nor an array. */
export function isJsonObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Decodes a body as UTF-8, without the byte order mark that some programs write at the start. */
export function textOfBody(parts: readonly Buffer[]): string {
  return new TextDecoder().decode(Buffer.concat(parts))
}

/**
 * The same, but throws a SyntaxError if it is not UTF-8: two texts would become one, and what is read is sometimes
 * written back.
 */
export function exactTextOfBody(parts: readonly Buffer[]): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(parts))
  } catch {
    throw new SyntaxError('the body is not UTF-8 text')
  }
}

/** Parses a JSON text; undefined if it is not valid JSON. */
export function tryParseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const TEXT_OR_NUMBER = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g

/** Parses JSON; numbers with more digits than a number keeps become texts. Undefined if it is not valid JSON. */
export function tryParseExactly(text: string): unknown {
  const value = tryParseJson(text)
  if (value === undefined || !/\d[\d.]{15}/.test(text)) return value
  return JSON.parse(
    text.replace(TEXT_OR_NUMBER, (token) =>
      token.startsWith('"') || digitsOf(token) <= 15 ? token : `"${token}"`,
    ),
  )
}

/** The same, but throws a SyntaxError that quotes nothing if it is not valid JSON. */
export function parseExactly(text: string): unknown {
  const value = tryParseExactly(text)
  if (value === undefined) throw new SyntaxError('it is not JSON')
  return value
}

/** How many digits of a number say something: neither zeros before it nor zeros at the end of a fraction. */
function digitsOf(number: string): number {
  const [mantissa = ''] = number.split(/e/i)
  const exact = mantissa.includes('.') ? mantissa.replace(/0+$/, '') : mantissa
  return exact.replace(/\D/g, '').replace(/^0+/, '').length
}

/** The tokens that a value can begin with: a bracket, or a complete number, literal or string. */
const VALUE = ['{', '[', 'scalar', 'text'] as const
const TOKEN =
  /([{}[\],:])|(-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)|("[ !#-[\]-\uffff]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[ !#-[\]-\uffff]*)*")/y
const SPACE = /[ \t\r\n]*/y

/**
 * The index at which a text that JSON.parse rejects stops being JSON: that of the first token that is not allowed
 * there, or the end of the text. JSON.parse itself reports the position only sometimes, and quotes parts of the text,
 * which may be secrets.
 */
export function jsonFault(text: string): number {
  const open: string[] = []
  let allowed: readonly string[] = VALUE
  for (let at = skipSpace(text, 0); ; at = skipSpace(text, TOKEN.lastIndex)) {
    TOKEN.lastIndex = at
    const match = TOKEN.exec(text)
    const token = match?.[1] ?? (match?.[2] ? 'scalar' : 'text')
    if (match === null || !allowed.includes(token)) return at
    const isKey = token === 'text' && !allowed.includes('scalar')
    if (token === '{' || token === '[') open.push(token)
    if (token === '}' || token === ']') open.pop()
    allowed = isKey ? [':'] : next(token, open.at(-1))
  }
}

/** The tokens that may follow a token, inside of the innermost object or array. */
function next(token: string, inside: string | undefined): readonly string[] {
  if (token === '{') return ['text', '}']
  if (token === '[') return [...VALUE, ']']
  if (token === ':') return VALUE
  if (token === ',') return inside === '{' ? ['text'] : VALUE
  if (inside === undefined) return []
  return [',', inside === '{' ? '}' : ']']
}

function skipSpace(text: string, from: number): number {
  SPACE.lastIndex = from
  SPACE.test(text)
  return SPACE.lastIndex
}

/** Matches the strings and punctuation of a valid JSON text; between them are numbers, literals and white space. */
export const TEXTS_AND_MARKS = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],:]/g

/**
 * The path of a member that an object has twice, of which JSON.parse keeps the last; undefined if there is none. The
 * JSON has to be valid.
 */
export function repeatedMember(json: string): readonly string[] | undefined {
  const open: { readonly names: Set<string>; name: string | undefined }[] = []
  let text = ''
  for (const [token] of json.matchAll(TEXTS_AND_MARKS)) {
    if (token.startsWith('"')) text = token
    else if (token === '{' || token === '[') open.push({ names: new Set(), name: undefined })
    else if (token === '}' || token === ']') open.pop()
    else if (token === ':') {
      const object = open.at(-1)
      const name = JSON.parse(text) as string
      if (object === undefined) continue
      object.name = name
      if (object.names.has(name)) return open.flatMap(({ name }) => name ?? [])
      object.names.add(name)
    }
  }
  return undefined
}

/**
 * The elements of an array that is a member of a JSON object, each as JSON text on one line, with all digits of its
 * numbers, which JSON.parse may round. Empty if there is no such array. The JSON has to be valid.
 */
export function elementsOf(json: string, member: string): string[] {
  const elements: string[] = []
  let element: string | undefined
  let [depth, at] = [0, 0]
  let [text, name] = ['', '']
  for (const { 0: token, index } of json.matchAll(TEXTS_AND_MARKS)) {
    const before = json.slice(at, index).trim()
    at = index + token.length
    if (depth === 1 && token === ':') name = text
    if (token.startsWith('"')) text = token
    if (element !== undefined) {
      element += before
      const isEnd = depth === 2 && token === ']'
      if (element !== '' && (isEnd || (depth === 2 && token === ','))) elements.push(element)
      if (isEnd) element = undefined
      else element = depth === 2 && token === ',' ? '' : element + token
    }
    if (token === '{' || token === '[') depth++
    else if (token === '}' || token === ']') depth--
    const isList = depth === 2 && token === '[' && element === undefined && name !== ''
    if (isList && JSON.parse(name) === member) element = ''
  }
  return elements
}

/** The message for a record with a duplicate key. */
export function repeatedMemberMessage(path: readonly string[]): string {
  return `Duplicate key ${path.join('.')}: it is not clear which value counts.`
}
