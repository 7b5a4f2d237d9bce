import { folded } from './text.ts'

/** Replaces secrets in texts that leave the process. */
export interface Mask {
  /** Hides a value in all texts from now on. A value of fewer than 4 characters is ignored. */
  add(secret: string): void
  /** Replaces every secret in a text, plain or encoded, by `****`. */
  text(text: string): string
}

/** Shorter values would also hide ordinary words. */
const SHORTEST = 4
/** The base64 of a secret is hidden if it has at least this length: shorter ones may be part of a word. */
const SHORTEST_BASE64 = 6
/**
 * In longer secrets, letters and digits are not searched for as escapes: long secrets are tokens, which nobody
 * escapes.
 */
const LONGEST_ESCAPED = 256
/** Longer secrets are hidden in pieces: a regular expression for a token of 16 KB is too large for the engine. */
const LONGEST_PIECE = 1024

/** What every escaped character contains. */
const ESCAPE = /[\\+]|%[\da-f]{2}|&[#a-z]/i

/** OAuth's names of parameters that give access. */
const OAUTH_PARAMETERS = ['access_token', 'client_secret']

/**
 * The credentials of a header. In a sentence, the word after "Basic" or "Bearer" has only small letters and is not
 * hidden.
 */
const CREDENTIALS =
  /\b([Bb]asic|BASIC|[Bb]earer|BEARER)(\s+|%20|\+)(?=[\w.~+/-]+[A-Z\d])[\w.~+/-]{6,}=*/g

/**
 * Creates a mask. Besides added secrets, it hides the values of the given parameters of URLs and members of JSON, of
 * OAuth's `access_token` and `client_secret`, and the credentials of headers. Names of parameters are plain words,
 * without characters that are special in a regular expression.
 */
export function createMask(parameters: readonly string[] = []): Mask {
  const secrets = new Map<string, Patterns>()
  let forms: readonly string[] = []
  let inBase64: readonly RegExp[] = []
  let patterns: readonly Patterns[] = []
  const names = [...OAUTH_PARAMETERS, ...parameters].join('|')
  const parameter = new RegExp(`\\b(${names})(=|%3D|"\\s*:\\s*")[^&\\s"'<>]+`, 'gi')
  return { add, text }

  function add(secret: string): void {
    const lines = secret.split(/[\r\n]+/)
    const whole = [secret, ...lines].filter((one) => one.length >= SHORTEST)
    const added = whole.flatMap(piecesOf).filter((one) => !secrets.has(one))
    // Return early: some secrets, such as the keys of a store, are added again and again.
    if (added.length === 0) return
    for (const value of added) secrets.set(value, patternsOf(value))
    // Longest first: a secret may contain another one.
    const longestFirst = [...secrets.keys()].sort((a, b) => b.length - a.length)
    patterns = longestFirst.map((value) => secrets.get(value) as Patterns)
    forms = [...new Set(patterns.flatMap((one) => one.forms))].sort((a, b) => b.length - a.length)
    inBase64 = patterns.flatMap((one) => one.inBase64)
  }

  function text(text: string): string {
    let masked = text
    for (const form of forms) masked = masked.replaceAll(form, '****')
    for (const pattern of inBase64) masked = masked.replace(pattern, '****')
    // Only texts with an escape are searched for those of secrets, because that search takes milliseconds.
    if (ESCAPE.test(masked))
      for (const pattern of patterns.flatMap((one) => one.escaped()))
        masked = masked.replace(pattern, '****')
    return masked.replace(parameter, '$1$2****').replace(CREDENTIALS, '$1$2****')
  }
}

/** A secret, or pieces of the same length that make it up. */
function piecesOf(secret: string): string[] {
  if (secret.length <= LONGEST_PIECE) return [secret]
  const characters = [...secret]
  const length = Math.ceil(characters.length / Math.ceil(characters.length / LONGEST_PIECE))
  const pieces: string[] = []
  for (let at = 0; at < characters.length; at += length)
    pieces.push(characters.slice(at, at + length).join(''))
  return pieces
}

/** The patterns that find a secret. They are compiled once per secret, because a server of webhooks has dozens. */
interface Patterns {
  readonly forms: readonly string[]
  readonly inBase64: readonly RegExp[]
  /** Made when it is first needed: it takes milliseconds, and most processes write no text with an escape. */
  escaped(): readonly RegExp[]
}

function patternsOf(secret: string): Patterns {
  let escaped: readonly RegExp[] | undefined
  return {
    forms: formsOf(secret),
    inBase64: base64Forms(secret),
    escaped() {
      escaped ??= escapedForms(secret)
      return escaped
    },
  }
}

/** A secret as it is, in upper case, in lower case, and in hexadecimal. */
function formsOf(secret: string): string[] {
  const hex = Buffer.from(secret).toString('hex')
  return [secret, secret.toUpperCase(), secret.toLowerCase(), hex, hex.toUpperCase()]
}

/**
 * Patterns for a secret within the base64 of a longer text, one for each position (0, 1 or 2) in a group of three
 * bytes. A match includes the digit that the secret shares with the text after it, but not the one that it shares
 * with the text before it, which reveals 4 bits at most.
 */
function base64Forms(secret: string): RegExp[] {
  return [0, 1, 2].flatMap((before) => {
    const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(secret)])
    const text = bytes.toString('base64').replace(/=+$/, '')
    const isShared = bytes.length % 3 !== 0
    const own = text.slice([0, 2, 3][before], isShared ? -1 : undefined)
    if (own.length < SHORTEST_BASE64) return []
    const digits = own.replace(/[+/]/g, (digit) =>
      digit === '+' ? '(?:[-+]|%2[bB])' : '(?:_|\\\\?/|%2[fF])',
    )
    // The digit after it may belong to the next piece of a long secret.
    return new RegExp(isShared ? `${digits}[\\w+/-]?(?:=|%3[dD])*` : digits, 'g')
  })
}

/** Patterns for a secret of which some or all characters are escaped. */
function escapedForms(secret: string): RegExp[] {
  const isLong = secret.length > LONGEST_ESCAPED
  const patternOf = (formsOf: typeof escapesOf) =>
    [...secret].map((character) => `(?:${formsOf(character, isLong)})`).join('')
  // Two patterns, because one in which a backslash may stand for one or two takes exponential time.
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

/**
 * A pattern for a character, unescaped or as JavaScript, URLs, forms and HTML escape it; a percent sign may itself be
 * encoded.
 */
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
  // Half a surrogate pair is sent as the replacement character.
  if (/\p{Surrogate}/u.test(character)) forms.push('\ufffd', '%[eE][fF]%[bB][fF]%[bB][dD]')
  return forms.join('|')
}

/** Like `escapesOf`, with the escapes of JSON. */
function jsonOf(character: string, isLong: boolean): string {
  const escapes = escapesOf(character, isLong)
  if (character === '/') return `${escapes}|\\\\/`
  const text = JSON.stringify(character).slice(1, -1)
  if (text === character || text.startsWith('\\u')) return escapes
  const itself = `|\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
  return `${text.replaceAll('\\', '\\\\')}|${escapes.replace(itself, '')}`
}

/** A pattern for a hexadecimal number in upper or lower case. */
function digits(number: number, least = 1): string {
  const text = number.toString(16).padStart(least, '0')
  return text.replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`)
}

/**
 * Replaces values that may name people by `****`: plain or encoded, in any case and Unicode form, but only as whole
 * words.
 */
export function withoutValues(text: string, values: readonly string[]): string {
  const forms = values
    .filter((value) => value.trim() !== '')
    .flatMap((value) => [value, value.normalize('NFC'), value.normalize('NFD'), folded(value)])
    .flatMap((value) => [value, JSON.stringify(value).slice(1, -1), encodeURIComponent(value)])
  return [...new Set(forms)]
    .toSorted((a, b) => b.length - a.length)
    .reduce((left, form) => left.replace(wholeWord(form), '****'), text)
}

function wholeWord(text: string): RegExp {
  const literal = text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
  return new RegExp(`(?<![\\p{L}\\p{N}])${literal}(?![\\p{L}\\p{N}])`, 'giu')
}
