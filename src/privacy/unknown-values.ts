import { namesSecret } from './secret-names.ts'

/** What names the other members of its object is a short text. */
const LONGEST_NAME = 60
/** JSON texts inside of JSON texts are read so deep; one that is deeper is left out. */
const MOST_LEVELS = 8

/**
 * Leaves out the secrets of a value that no schema describes, a JSON text: members with the name of a secret, the
 * rest of an object or a pair of which a text is such a name, and both of these inside of texts that are JSON.
 * Numbers keep their digits, and a value without secrets is returned as it is. `isKept` exempts the members at a path;
 * `at` is the path of the value.
 */
export function withoutSecrets(
  json: string,
  at: readonly string[],
  isKept: (path: readonly string[]) => boolean,
): string {
  const value = parsed(json)
  return cleanJson({ json, value }, at, isKept, 0)
}

function cleanJson(
  { json, value }: { readonly json: string; readonly value: unknown },
  at: readonly string[],
  isKept: IsKept,
  level: number,
): string {
  const left = clean(value, at, isKept, level)
  // Of two members with one name, only the last one was parsed.
  return left === value && colonsOf(json) === membersOf(value) ? json : written(left)
}

function colonsOf(json: string): number {
  return json.replace(/"[^"\\]*(?:\\.[^"\\]*)*"|[^:"]+/g, '').length
}

function membersOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  const inside = Object.values(value).reduce((sum: number, one) => sum + membersOf(one), 0)
  return inside + (Array.isArray(value) ? 0 : Object.keys(value).length)
}

type IsKept = (path: readonly string[]) => boolean

/** The same value if there is nothing to leave out. */
function clean(value: unknown, at: readonly string[], isKept: IsKept, level: number): unknown {
  if (typeof value === 'string') return cleanText(value, at, isKept, level)
  if (Array.isArray(value)) return cleanList(value, at, isKept, level)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value)
  const isNamed = entries.some(([name, member]) => isName(member) && !namesSecret(name))
  const left = entries.flatMap(([name, member]) => {
    const path = [...at, name]
    if (isKept(path)) return [[name, member] as const]
    if (namesSecret(name) || (isNamed && !isName(member))) return []
    return [[name, clean(member, path, isKept, level)] as const]
  })
  const isSame =
    left.length === entries.length && left.every(([, member], i) => member === entries[i]?.[1])
  return isSame ? value : Object.fromEntries(left)
}

/** Lists of names and values are of two forms: `[name, value]`, and objects, which `clean` reads. */
function cleanList(list: readonly unknown[], at: readonly string[], isKept: IsKept, level: number) {
  const isNamed = list.length === 2 && isName(list[0])
  const left = (isNamed ? list.slice(0, 1) : list).map((item) => clean(item, at, isKept, level))
  return left.length === list.length && left.every((item, i) => item === list[i]) ? list : left
}

function cleanText(text: string, at: readonly string[], isKept: IsKept, level: number): unknown {
  if (!/["\\]/.test(text)) return text
  const inner = parsed(text)
  if (inner === undefined) {
    // It may have been cut off, or be a part of a sentence.
    const parts = text.split('"')
    const isSecret = parts.some(
      (name, i) => /^\s*:/.test(parts[i + 1] ?? '') && namesSecret(unescaped(name)),
    )
    return isSecret ? null : text
  }
  if (level === MOST_LEVELS) return null
  return cleanJson({ json: text, value: inner }, at, isKept, level + 1)
}

/** Whether a value is the name of a secret. */
function isName(value: unknown): boolean {
  return typeof value === 'string' && value.length <= LONGEST_NAME && namesSecret(value)
}

function unescaped(name: string): string {
  return name.replace(/\\u([\da-f]{4})/gi, (_, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  )
}

/** Marks a text that stands for a number, because a number of JavaScript does not have all of its digits. */
const NUMBER = '\uffff#'

/** Undefined if the text is no JSON. */
function parsed(json: string): unknown {
  try {
    JSON.parse(json)
  } catch {
    return undefined
  }
  const marked = json.replace(/"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g, (token) =>
    token.startsWith('"') ? token : `"${NUMBER}${token}"`,
  )
  return JSON.parse(marked) as unknown
}

function written(value: unknown): string {
  return JSON.stringify(value).replaceAll(
    new RegExp(`"${NUMBER}(-?\\d[\\d.eE+-]*)"`, 'g'),
    (_, digits: string) => digits,
  )
}
