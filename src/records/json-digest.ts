const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const MINUS = 0x2d
const ZERO = 0x30
const NINE = 0x39
const SPACE = 0x20
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d
const OPEN_LIST = 0x5b
const CLOSE_LIST = 0x5d
const LOWER_F = 0x66
const LOWER_N = 0x6e
const LOWER_T = 0x74

/** The first input of the digest for each kind of value, so that the string "1" differs from the number 1. */
const SEED = { text: 1, number: 2, boolean: 3, list: 4, object: 5, member: 6 } as const

/** Numbers with more zeros are left in their short form. */
const MOST_ZEROS = 25

/**
 * Computes 64-bit digests of JSON values, in two halves. Equal values have equal digests, however they are written:
 * white space, escapes, the order of members and the form of numbers do not matter, and a member that is null equals
 * a missing one. The digests detect accidental differences; they are no protection against collisions on purpose.
 */
export class JsonDigest {
  /** The digest of the last value. Both halves are 0 only for null. */
  high = 0
  low = 0
  /** Normalizes the text of a number before it is digested, unless it is whole. */
  readonly #numberText: (text: string) => string
  /** Buffers for strings: one may be read while the other one is written. */
  #source = Buffer.alloc(1024)
  #scratch = Buffer.alloc(1024)

  constructor(numberText: (text: string) => string = exactNumber) {
    this.#numberText = numberText
  }

  /** Digests the JSON value that begins at `at`, which must be valid; returns the position after it. */
  value(bytes: Buffer, at: number): number {
    switch (bytes[at]) {
      case QUOTE:
        return this.#quoted(bytes, at)
      case OPEN_OBJECT:
        return this.#object(bytes, at)
      case OPEN_LIST:
        return this.#list(bytes, at)
      case LOWER_N:
        this.high = 0
        this.low = 0
        return at + 4
      case LOWER_T:
        this.#of(SEED.boolean, bytes, at, at + 1)
        return at + 4
      case LOWER_F:
        this.#of(SEED.boolean, bytes, at, at + 1)
        return at + 5
      default:
        return this.#number(bytes, at)
    }
  }

  /** Digests a JSON value from its text. */
  json(text: string): void {
    this.#source = withRoom(this.#source, text)
    const length = this.#source.write(text)
    this.value(this.#source.subarray(0, length), 0)
  }

  /** Digests a string with this content. */
  text(content: string): void {
    const length = this.#write(content)
    this.#of(SEED.text, this.#scratch, 0, length)
  }

  /** Combines this digest with that of a member's name. */
  named(high: number, low: number): void {
    this.#finish(this.high ^ high, this.low + Math.imul(low, 0x9e3779b1) + SEED.member)
  }

  /** Writes into the scratch buffer, which may be another one afterwards. */
  #write(text: string): number {
    this.#scratch = withRoom(this.#scratch, text)
    return this.#scratch.write(text)
  }

  #quoted(bytes: Buffer, start: number): number {
    let hasEscape = false
    let end = start + 1
    for (; bytes[end] !== QUOTE; end++) {
      if (bytes[end] !== BACKSLASH) continue
      hasEscape = true
      end++
    }
    if (hasEscape) this.text(JSON.parse(bytes.toString('utf8', start, end + 1)) as string)
    else this.#of(SEED.text, bytes, start + 1, end)
    return end + 1
  }

  #number(bytes: Buffer, start: number): number {
    const end = scalarEnd(bytes, start)
    // There is one way to write it.
    if (isWhole(bytes, start, end)) {
      this.#of(SEED.number, bytes, start, end)
      return end
    }
    const text = bytes.toString('latin1', start, end)
    const length = this.#write(this.#numberText(text))
    this.#of(SEED.number, this.#scratch, 0, length)
    return end
  }

  #list(bytes: Buffer, start: number): number {
    let high: number = SEED.list
    let low = 0
    let at = skipSpace(bytes, start + 1)
    while (bytes[at] !== CLOSE_LIST) {
      at = skipSpace(bytes, this.value(bytes, at))
      this.#finish(Math.imul(high, 31) + this.high, Math.imul(low, 37) + this.low + SEED.list)
      high = this.high
      low = this.low
      if (bytes[at] === COMMA) at = skipSpace(bytes, at + 1)
    }
    this.#finish(high, low)
    return at + 1
  }

  #object(bytes: Buffer, start: number): number {
    let high: number = SEED.object
    let low = 0
    let at = skipSpace(bytes, start + 1)
    while (bytes[at] === QUOTE) {
      at = skipSpace(bytes, this.#quoted(bytes, at)) + 1
      const { high: nameHigh, low: nameLow } = this
      at = skipSpace(bytes, this.value(bytes, skipSpace(bytes, at)))
      if (this.high !== 0 || this.low !== 0) {
        this.named(nameHigh, nameLow)
        // A sum does not depend on the order of its terms.
        high = (high + this.high) | 0
        low = (low + this.low) | 0
      }
      if (bytes[at] === COMMA) at = skipSpace(bytes, at + 1)
    }
    this.#finish(high, low)
    return at + 1
  }

  #of(seed: number, bytes: Buffer, start: number, end: number): void {
    let a = 0xdeadbeef ^ seed
    let b = 0x41c6ce57 ^ seed
    for (let at = start; at < end; at++) {
      const byte = bytes[at] as number
      a = Math.imul(a ^ byte, 0x9e3779b1)
      b = Math.imul(b ^ byte, 0x5f356495)
    }
    this.#finish(a, b)
  }

  #finish(first: number, second: number): void {
    let a = first
    let b = second
    a = Math.imul(a ^ (a >>> 16), 0x85ebca6b) ^ Math.imul(b ^ (b >>> 13), 0xc2b2ae35)
    b = Math.imul(b ^ (b >>> 16), 0x85ebca6b) ^ Math.imul(a ^ (a >>> 13), 0xc2b2ae35)
    this.high = a | 0
    // Both halves are 0 only for null.
    this.low = (a | b) === 0 ? 1 : b | 0
  }
}

/** Whether a number has digits only, and perhaps a sign; `-0` is another way to write 0. */
function isWhole(bytes: Buffer, start: number, end: number): boolean {
  const first = bytes[start] === MINUS ? start + 1 : start
  for (let at = first; at < end; at++) {
    const byte = bytes[at] as number
    if (byte < ZERO || byte > NINE) return false
  }
  return first === start || bytes[first] !== ZERO || end !== first + 1
}

/** A buffer that is large enough for the text, whatever its characters. */
function withRoom(buffer: Buffer<ArrayBuffer>, text: string): Buffer<ArrayBuffer> {
  const most = text.length * 3
  return buffer.length < most ? Buffer.alloc(most * 2) : buffer
}

/** A number with all of its digits, in one form for all ways to write it. */
function exactNumber(text: string): string {
  const digits = normalised(text)
  const [significant = '', power = '0'] = digits.split('e')
  const zeros = Number(power)
  return zeros >= 0 && zeros <= MOST_ZEROS ? significant + '0'.repeat(zeros) : digits
}

/** The digits of a number and its exponent, `12e-1`: the same for all ways to write it. */
export function normalised(text: string): string {
  const [mantissa = '', exponent = '0'] = text.replace(/^-/, '').toLowerCase().split('e')
  const [whole = '', fraction = ''] = mantissa.split('.')
  const digits = `${whole}${fraction}`.replace(/^0+/, '')
  const significant = digits.replace(/0+$/, '')
  if (significant === '') return '0'
  const power = Number(exponent) - fraction.length + digits.length - significant.length
  return `${text.startsWith('-') ? '-' : ''}${significant}e${power}`
}

/** A number rounded to nine decimal places; databases keep at least these. */
export function roundedNumber(text: string): string {
  return exactNumber(String(Number(Number(text).toFixed(9))))
}

/** The position after a number, a boolean or null. */
export function scalarEnd(bytes: Buffer, start: number): number {
  let at = start
  for (; at < bytes.length; at++) {
    const byte = bytes[at] as number
    if (byte === COMMA || byte === CLOSE_OBJECT || byte === CLOSE_LIST || byte <= SPACE) return at
  }
  return at
}

/** The position of the next byte that is not white space. */
export function skipSpace(bytes: Buffer, start: number): number {
  let at = start
  while ((bytes[at] as number) <= SPACE) at++
  return at
}
