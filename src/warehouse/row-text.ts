import { NULL, QUOTING, ROW_END, SEPARATOR } from './row-format.ts'

/** Shorter ones are copied faster byte by byte. */
const SHORT = 48
const QUOTE = String.fromCharCode(QUOTING)
/** Half of a surrogate pair without the other: valid JSON, but no text. */
const LONE_SURROGATE =
  /\\u[dD][89abAB][\da-fA-F]{2}(?!\\u[dD][c-fC-F])|(?<!\\u[dD][89abAB][\da-fA-F]{2})\\u[dD][c-fC-F][\da-fA-F]{2}/g

/** The rows of a file, of values in the bytes of records. Its memory is used again by `reset`. */
export class RowText {
  #from: Buffer = Buffer.alloc(0)
  #generation: Buffer = Buffer.alloc(0)
  #to: Buffer = Buffer.alloc(0)
  #size = 0
  #rowStart = 0
  #count = 0
  #longest = 0

  reset(from: Buffer, generation: number): void {
    this.#from = from
    this.#generation = Buffer.from(String(generation))
    this.#size = 0
    this.#count = 0
    this.#longest = 0
  }

  begin(op: number): void {
    this.#rowStart = this.#size
    this.#reserve(1)
    this.#to[this.#size++] = op
  }

  null(): void {
    this.#reserve(2)
    this.#to[this.#size++] = SEPARATOR
    this.#to[this.#size++] = NULL
  }

  /** A value whose bytes are those of its text. */
  plain(start: number, end: number): void {
    this.#reserve(end - start + 1)
    const to = this.#to
    to[this.#size++] = SEPARATOR
    if (end - start < SHORT) {
      const from = this.#from
      let size = this.#size
      for (let at = start; at < end; at++) to[size++] = from[at] as number
      this.#size = size
    } else {
      this.#size += this.#from.copy(to, this.#size, start, end)
    }
  }

  /** A JSON text with escapes, quotes included. */
  escaped(start: number, end: number): void {
    const text = JSON.parse(this.#from.toString('utf8', start, end)) as string
    this.#text(
      hasControls(text) ? `${QUOTE}${text.replaceAll(QUOTE, QUOTE + QUOTE)}${QUOTE}` : text,
    )
  }

  /** A JSON value as it came. */
  json(start: number, end: number, hasEscape: boolean): void {
    const lone = hasEscape ? this.#from.toString('latin1', start, end).search(LONE_SURROGATE) : -1
    if (lone < 0) this.plain(start, end)
    else this.#text(this.#from.toString('utf8', start, end).replace(LONE_SURROGATE, '\\ufffd'))
  }

  end(): void {
    const generation = this.#generation
    this.#reserve(generation.length + 2)
    this.#to[this.#size++] = SEPARATOR
    this.#to.set(generation, this.#size)
    this.#size += generation.length
    this.#to[this.#size++] = ROW_END
    this.#count++
    this.#longest = Math.max(this.#longest, this.#size - this.#rowStart)
  }

  /** Valid until `reset`. */
  finish(): { readonly rows: Buffer; readonly count: number; readonly longest: number } {
    const rows = this.#to.subarray(0, this.#size)
    return { rows, count: this.#count, longest: this.#longest }
  }

  #text(text: string): void {
    const bytes = Buffer.from(text)
    this.#reserve(bytes.length + 1)
    this.#to[this.#size++] = SEPARATOR
    this.#to.set(bytes, this.#size)
    this.#size += bytes.length
  }

  #reserve(size: number): void {
    if (this.#size + size <= this.#to.length) return
    const larger = Buffer.allocUnsafe(
      Math.max(this.#to.length * 2, this.#from.length, this.#size + size),
    )
    this.#to.copy(larger, 0, 0, this.#size)
    this.#to = larger
  }
}

function hasControls(text: string): boolean {
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) < 0x20) return true
  return false
}
