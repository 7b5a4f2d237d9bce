import { folded } from './text.ts'

/** Replaces secrets by their value in texts that leave the process. */
export interface Mask {
  /** Takes a value that must not appear in any text from now on; short ones are ignored. */
  add(secret: string): void
  /** The text with every secret, as is or in an encoded form, replaced by `****`. */
  text(text: string): string
}

/** Below this length a value would also hide innocent words. */
const SHORTEST = 4
/** So long, what a secret is in base64 is no word. */
const SHORTEST_BASE64 = 6
/** Of longer secrets letters and digits are not looked for as escapes: tokens are long, and nobody escapes those. */
const LONGEST_ESCAPED = 256

/** OAuth's own names of values that give access. */
const OAUTH_PARAMETERS = ['access_token', 'client_secret']

/** Credentials of a header; a word behind "Basic" or "Bearer" in a sentence has small letters alone. */
const CREDENTIALS =
  /\b([Bb]asic|BASIC|[Bb]earer|BEARER)(\s+|%20|\+)(?=[\w.~+/-]+[A-Z\d])[\w.~+/-]{6,}=*/g

/**
 * A mask that also hides the values of these parameters of URLs and members of JSON, whatever they
 * are. Their names are plain words; OAuth's `access_token` and `client_secret` are always hidden, and so
 * are the credentials of headers.
 */
export function createMask(parameters: readonly string[] = []): Mask {
  const secrets = new Map<string, Patterns>()
  let forms: readonly string[] = []
  let inBase64: readonly RegExp[] = []
  let escaped: readonly RegExp[] = []
  const names = [...OAUTH_PARAMETERS, ...parameters].join('|')
  const parameter = new RegExp(`\\b(${names})(=|%3D|"\\s*:\\s*")[^&\\s"'<>]+`, 'gi')
  return { add, text }

  function add(secret: string): void {
    const lines = secret.split(/[\r\n]+/)
    const added = [secret, ...lines].filter((one) => one.length >= SHORTEST && !secrets.has(one))
    // What is to be hidden again and again, the keys of a store for example, must cost nothing.
    if (added.length === 0) return
    for (const value of added) secrets.set(value, patternsOf(value))
    // Longest first: a secret may contain another one.
    const longestFirst = [...secrets.keys()].sort((a, b) => b.length - a.length)
    const all = longestFirst.map((value) => secrets.get(value) as Patterns)
    forms = [...new Set(all.flatMap((one) => one.forms))].sort((a, b) => b.length - a.length)
    inBase64 = all.flatMap((one) => one.inBase64)
    escaped = all.flatMap((one) => one.escaped)
  }

  function text(text: string): string {
    let masked = text
    for (const form of forms) masked = masked.replaceAll(form, '****')
    for (const pattern of inBase64) masked = masked.replace(pattern, '****')
    // What has no escapes needs no search for them, which takes much longer.
    if (/[%&\\+]/.test(masked))
      for (const pattern of escaped) masked = masked.replace(pattern, '****')
    return masked.replace(parameter, '$1$2****').replace(CREDENTIALS, '$1$2****')
  }
}

/** What finds a secret. It is made once for each: a server of webhooks has dozens. */
interface Patterns {
  readonly forms: readonly string[]
  readonly inBase64: readonly RegExp[]
  readonly escaped: readonly RegExp[]
}

function patternsOf(secret: string): Patterns {
  return {
    forms: formsOf(secret),
    inBase64: base64Forms(secret),
    escaped: escapedForms(secret),
  }
}

/** A secret as it is, in capitals, in small letters and in hexadecimal digits. */
function formsOf(secret: string): string[] {
  const hex = Buffer.from(secret).toString('hex')
  return [secret, secret.toUpperCase(), secret.toLowerCase(), hex, hex.toUpperCase()]
}

/**
 * What finds a secret in the base64 of a longer text, in which so many bytes of a group of three stand before
 * it. The digit that it shares with what follows goes with it; the one before it tells 4 bits at most.
 */
function base64Forms(secret: string): RegExp[] {
  return [0, 1, 2].flatMap((before) => {
    const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(secret)])
    const text = bytes.toString('base64').replace(/=+$/, '')
    const own = text.slice([0, 2, 3][before], bytes.length % 3 === 0 ? undefined : -1)
    if (own.length < SHORTEST_BASE64) return []
    const digits = own.replace(/[+/]/g, (digit) =>
      digit === '+' ? '(?:[-+]|%2[bB])' : '(?:_|\\\\?/|%2[fF])',
    )
    return new RegExp(`${digits}[\\w+/-]?(?:=|%3[dD])*`, 'g')
  })
}

/** What finds a secret whose characters are escaped, all or some. */
function escapedForms(secret: string): RegExp[] {
  const isLong = secret.length > LONGEST_ESCAPED
  const patternOf = (formsOf: typeof escapesOf) =>
    [...secret].map((character) => `(?:${formsOf(character, isLong)})`).join('')
  // Two patterns, because in one a backslash that may stand for one or two takes time without bound.
  return [...new Set([patternOf(jsonOf), patternOf(escapesOf)])].map(
    (pattern) => new RegExp(pattern, 'g'),
  )
}

const NAMED: Readonly<Record<string, string>> = {
  '&': 'amp',
  '<': 'lt',
  '>': 'gt',
  '"': 'quot',
  "'": 'apos',
}

/** A character as it is, or by its number, or as URLs, forms and HTML write it; a percent sign may be encoded again. */
function escapesOf(character: string, isLong: boolean): string {
  const code = character.codePointAt(0) ?? 0
  const units = [...Array(character.length).keys()].map((i) => character.charCodeAt(i))
  const itself = units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('')
  if (isLong && /[a-z\d]/i.test(character)) return itself
  const name = NAMED[character]
  const forms = [
    units.map((unit) => `\\\\u${digits(unit, 4)}`).join(''),
    [...Buffer.from(character)].map((byte) => `%(?:25)*${digits(byte, 2)}`).join(''),
    `&#(?:0*${code}|[xX]0*${digits(code)});`,
    itself,
  ]
  if (name !== undefined) forms.unshift(`&${name};`)
  if (character === ' ') forms.push('\\+')
  // Half a character is sent as the one that stands for none.
  if (/\p{Surrogate}/u.test(character)) forms.push('\ufffd', '%[eE][fF]%[bB][fF]%[bB][dD]')
  return forms.join('|')
}

/** The same in a text of JSON. */
function jsonOf(character: string, isLong: boolean): string {
  const escapes = escapesOf(character, isLong)
  if (character === '/') return `${escapes}|\\\\/`
  const text = JSON.stringify(character).slice(1, -1)
  if (text === character || text.startsWith('\\u')) return escapes
  const itself = `|\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
  return `${text.replaceAll('\\', '\\\\')}|${escapes.replace(itself, '')}`
}

/** A hexadecimal number, in capitals or not. */
function digits(number: number, least = 1): string {
  const text = number.toString(16).padStart(least, '0')
  return text.replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`)
}

/**
 * A text with `****` in place of values that may name people, as they are or encoded, in whatever case and Unicode
 * form; they are only replaced where they stand as words.
 */
export function withoutValues(text: string, values: readonly string[]): string {
  const forms = values
    .filter((value) => value.trim() !== '')
    .flatMap((value) => [value, value.normalize('NFC'), value.normalize('NFD'), folded(value)])
    .flatMap((value) => [value, JSON.stringify(value).slice(1, -1), encodeURIComponent(value)])
  return [...new Set(forms)]
    .toSorted((a, b) => b.length - a.length)
    .reduce((left, form) => left.replace(alone(form), '****'), text)
}

function alone(text: string): RegExp {
  const literal = text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
  return new RegExp(`(?<![\\p{L}\\p{N}])${literal}(?![\\p{L}\\p{N}])`, 'giu')
}
