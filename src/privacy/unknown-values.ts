import { randomUUID } from 'node:crypto'
import { tryParseJson } from '../ground/json.ts'
import { namesSecret } from './secret-names.ts'

/** What names the other members of its object is a short text. */
const LONGEST_NAME = 60
/** JSON texts inside of JSON texts are read so deep; one that is deeper is left out. */
const MOST_LEVELS = 8
/** A text is searched if it has as many levels of objects and lists as a record may have; one with more is left out. */
const DEEPEST = 256
/** What names a value may be so deep in an object beside it: `{"definition":{"name":{"default":"IBAN"}},"value":"BE1"}`. */
const LEVELS_OF_NAME = 3

/**
 * Leaves out the secrets of a value that no schema describes, a JSON text: members with the name of a secret, the
 * rest of an object that has such a name in a text, what follows one in a list, and all of these inside of texts that
 * are JSON.
 * Numbers keep their digits, and a value without secrets is returned as it is. `isKept` exempts the members at a path;
 * `at` is the path of the value.
 */
export function withoutSecrets(
  json: string,
  at: readonly string[],
  isKept: (path: readonly string[]) => boolean,
): string {
  if (!json.includes('\\') && namesNoSecret(json)) return json
  return cleanJson({ json, value: JSON.parse(json) }, at, isKept, 0)
}

/** Whether no string of a JSON text without escapes names a secret: most values need not be parsed. */
function namesNoSecret(json: string): boolean {
  const parts = json.split('"')
  for (let i = 1; i < parts.length; i += 2) if (namesSecret(parts[i] as string)) return false
  return true
}

function cleanJson(
  { json, value }: { readonly json: string; readonly value: unknown },
  at: readonly string[],
  isKept: IsKept,
  level: number,
): string {
  // Of two members with one name, only the last one was parsed.
  const isWhole = colonsOf(json) === membersOf(value)
  if (isWhole && clean(value, at, isKept, level) === value) return json
  return written(clean(withDigits(json), at, isKept, level))
}

/** Colons outside of strings. */
function colonsOf(json: string): number {
  let [colons, isInString] = [0, false]
  for (let i = 0; i < json.length; i++) {
    const character = json.charCodeAt(i)
    if (character === 0x22) isInString = !isInString
    else if (character === 0x5c) i++
    else if (character === 0x3a && !isInString) colons++
  }
  return colons
}

function membersOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  const inner: unknown[] = Array.isArray(value) ? value : Object.values(value)
  return inner.reduce<number>(
    (sum, one) => sum + membersOf(one),
    value === inner ? 0 : inner.length,
  )
}

type IsKept = (path: readonly string[]) => boolean

/** The same value if there is nothing to leave out. */
function clean(value: unknown, at: readonly string[], isKept: IsKept, level: number): unknown {
  if (typeof value === 'string') return cleanText(value, at, isKept, level)
  if (Array.isArray(value)) return cleanList(value, at, isKept, level)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value)
  const isNamed = namesOne(value, LEVELS_OF_NAME)
  const left = entries.flatMap(([name, member]) => {
    const path = [...at, name]
    if (isKept(path)) return [[name, member] as const]
    if (namesSecret(name) || (isNamed && !namesOne(member, LEVELS_OF_NAME - 1))) return []
    return [[name, clean(member, path, isKept, level)] as const]
  })
  const isSame =
    left.length === entries.length && left.every(([, member], i) => member === entries[i]?.[1])
  return isSame ? value : Object.fromEntries(left)
}

/** In a list, a name is before its value. */
function cleanList(list: readonly unknown[], at: readonly string[], isKept: IsKept, level: number) {
  const left = list
    .filter((item, i) => !isName(list[i - 1]) || isName(item))
    .map((item) => clean(item, at, isKept, level))
  return left.length === list.length && left.every((item, i) => item === list[i]) ? list : left
}

function cleanText(text: string, at: readonly string[], isKept: IsKept, level: number): unknown {
  if (!text.includes('"')) return text
  const inner = /^\s*[[{"]/.test(text) ? tryParseJson(text) : undefined
  if (inner === undefined) return text.includes(':') && quotesSecret(text) ? null : text
  if (level === MOST_LEVELS || isDeep(text)) return null
  return cleanJson({ json: text, value: inner }, at, isKept, level + 1)
}

/**
 * Whether a text that is no JSON has a member with the name of a secret, or with such a name as its value: it may have
 * been cut off, or be a part of a sentence.
 */
function quotesSecret(text: string): boolean {
  const parts = text.split('"')
  return parts.some(
    (name, i) =>
      (/^\s*:/.test(parts[i + 1] ?? '') || /:\s*$/.test(parts[i - 1] ?? '')) &&
      namesSecret(unescaped(name)),
  )
}

/** Whether a JSON text has more levels than a record may have. */
function isDeep(text: string): boolean {
  let level = 0
  for (const [token] of text.matchAll(/"[^"\\]*(?:\\.[^"\\]*)*"|[[{\]}]/g)) {
    if (token === '[' || token === '{') level++
    else if (!token.startsWith('"')) level--
    if (level > DEEPEST) return true
  }
  return false
}

/** Whether a value is the name of a secret. */
function isName(value: unknown): boolean {
  return typeof value === 'string' && value.length <= LONGEST_NAME && namesSecret(value)
}

/** Whether a value is the name of a secret, or has one in its lists and objects, which are not secrets themselves. */
function namesOne(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return isName(value)
  if (Array.isArray(value)) return value.some(isName)
  return (
    levels > 0 &&
    Object.entries(value).some(
      ([name, member]) => !namesSecret(name) && namesOne(member, levels - 1),
    )
  )
}

function unescaped(name: string): string {
  return name.replace(/\\u([\da-f]{4})/gi, (_, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  )
}

/** Marks a text that stands for a number, because a number of JavaScript does not have all of its digits. Nobody can guess it. */
const NUMBER = randomUUID()

function withDigits(json: string): unknown {
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
