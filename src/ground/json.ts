/** A JSON object, of which nothing is known yet. */
export type JsonObject = Readonly<Record<string, unknown>>

/** Whether a value of JSON is an object: neither null nor a list. */
export function isJsonObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The text of a body in UTF-8, without the byte order mark that some programs write before it. */
export function textOfBody(parts: readonly Buffer[]): string {
  return new TextDecoder().decode(Buffer.concat(parts))
}

/** The value of a JSON text; undefined for what is no JSON. */
export function tryParseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** What a value begins with: a mark, or a whole number, word or text. */
const VALUE = ['{', '[', 'scalar', 'text'] as const
const TOKEN =
  /([{}[\],:])|(-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)|("[ !#-[\]-\uffff]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[ !#-[\]-\uffff]*)*")/y
const SPACE = /[ \t\r\n]*/y

/**
 * Where a text that JSON.parse refuses stops being JSON: the index of the first word that cannot stand
 * there, or of the end of the text. JSON.parse itself tells the place in some cases only, and repeats
 * parts of the text, which may hold secrets.
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

/** What may follow a token within the innermost object or list. */
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

/** The texts and marks of a valid JSON; what stands between them is numbers and words. */
export const TEXTS_AND_MARKS = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],:]/g

/**
 * The path of a member that comes twice in one object, of which JSON.parse takes the last; undefined if there is
 * none. The JSON has to be valid.
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

/** Says that a record has a member twice. */
export function repeatedInWords(path: readonly string[]): string {
  return `The member ${path.join('.')} comes twice, and it is not clear which one counts.`
}
