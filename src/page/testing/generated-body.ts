/** A number generator from a seed: the same numbers for the same seed. */
export type Random = (below: number) => number

/** Numbers from 0 to `below` - 1 (mulberry32). */
export function seeded(seed: number): Random {
  let state = seed >>> 0
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0
    let bits = Math.imul(state ^ (state >>> 15), state | 1)
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61)
    return ((bits ^ (bits >>> 14)) >>> 0) % below
  }
}

const TEXTS = [
  'a',
  '',
  'Deleted',
  'Delete',
  '}',
  '{"id":1}',
  '"],"value":[',
  '\\u0041',
  '\\"',
  '\\\\',
  '\\n',
  'é',
  '😀',
  '\u2028',
  '\\ud83d\\ude00',
  '\\ud800',
  '},{"changeVersion":"',
  'plain text of some length',
  'long '.repeat(20),
  '\\/',
  'x\\u0022y',
  '日本語のテキスト',
]
const NUMBERS = [
  '0',
  '-0',
  '7',
  '12',
  '9007199254740991',
  '9007199254740992',
  '9007199254740993',
  '1e3',
  '1.50',
  '-12.5E-7',
  '123456789012345678901234567890',
  '0.1',
  '-3',
  '1E+2',
  '4711',
]
const RECORD_NAMES = [
  'id',
  'changeVersion',
  'status',
  'data',
  'changeType',
  '\\u0069d',
  'Id',
  'person',
  'name',
  'x',
  '\\u0078',
  'change\\u0054ype',
  'value',
  'idd',
  'i',
]
const SPACES = ['', '', '', '', ' ', '\n', '\r\n\t', '  ']

/** Writes bodies that are like those of the service, and as odd as JSON allows. */
export class BodyWriter {
  readonly #random: Random

  constructor(random: Random) {
    this.#random = random
  }

  /** A body that is valid JSON, nearly always with the members that a page needs. */
  body(): string {
    const members = [
      `"${this.#pick(['value', 'value', 'Value', 'v\\u0061lue'])}"${this.#colon()}${this.#items()}`,
    ]
    if (this.#chance(3)) members.push(`"nextLink"${this.#colon()}${this.#link()}`)
    if (this.#chance(3)) members.push(`"DeltaLink"${this.#colon()}${this.#link()}`)
    if (this.#chance(3)) members.push(`"@odata.${this.#text()}"${this.#colon()}${this.#value(3)}`)
    if (this.#chance(30)) members.push(`"VALUE"${this.#colon()}[]`)
    members.sort(() => this.#random(3) - 1)
    return `${this.#chance(10) ? '\ufeff' : ''}${this.#space()}{${members.join(this.#comma())}}${this.#space()}`
  }

  #items(): string {
    if (this.#chance(40)) return this.#value(1)
    return this.#list('[', ']', this.#random(6), () => this.#element())
  }

  #element(): string {
    if (this.#chance(60)) return this.#value(1)
    if (!this.#chance(3)) return this.#record()
    const members = [
      `"changeType"${this.#colon()}"${this.#pick(['Delete', 'InsertOrUpdate', 'De\\u006cete'])}"`,
      `"data"${this.#colon()}${this.#record()}`,
    ]
    if (this.#chance(4)) members.push(this.#member())
    if (this.#chance(2)) members.reverse()
    return `{${this.#space()}${members.join(this.#comma())}${this.#space()}}`
  }

  #record(): string {
    const members = [`"changeVersion"${this.#colon()}${this.#version()}`]
    if (!this.#chance(40)) members.push(`"id"${this.#colon()}${this.#key()}`)
    for (let count = this.#random(5); count > 0; count--) members.push(this.#member())
    if (this.#chance(2)) members.reverse()
    return `{${this.#space()}${members.join(this.#comma())}${this.#space()}}`
  }

  #member(): string {
    return `"${this.#pick(RECORD_NAMES)}"${this.#colon()}${this.#value(3)}`
  }

  #key(): string {
    return this.#chance(4) ? this.#value(2) : String(this.#random(1_000_000))
  }

  #version(): string {
    if (this.#chance(8)) return this.#value(1)
    return `"00000A1000005C${this.#random(1_000_000).toString(16).toUpperCase().padStart(6, '0')}"`
  }

  #link(): string {
    return this.#pick([
      'null',
      '""',
      '"/connector/api/v1/x?filter=date ge \'2026-01-01\'"',
      '"a\\/b\\u0026é"',
    ])
  }

  #value(depth: number): string {
    switch (this.#random(depth > 0 ? 8 : 6)) {
      case 0:
      case 1:
        return this.#pick(NUMBERS)
      case 2:
      case 3:
        return `"${this.#text()}"`
      case 4:
        return this.#pick(['true', 'false', 'null'])
      case 5:
        return this.#pick(['"Deleted"', '"Delete"', '{}', '[]', 'null'])
      case 6:
        return this.#list('[', ']', this.#random(4), () => this.#value(depth - 1))
      default:
        return this.#list('{', '}', this.#random(4), () => {
          return `"${this.#pick(RECORD_NAMES)}"${this.#colon()}${this.#value(depth - 1)}`
        })
    }
  }

  #list(open: string, close: string, count: number, item: () => string): string {
    return `${open}${this.#space()}${Array.from({ length: count }, item).join(this.#comma())}${this.#space()}${close}`
  }

  #text(): string {
    return Array.from({ length: this.#random(4) }, () => this.#pick(TEXTS)).join('')
  }

  #comma(): string {
    return `${this.#space()},${this.#space()}`
  }

  #colon(): string {
    return `${this.#space()}:${this.#space()}`
  }

  #space(): string {
    return this.#pick(SPACES)
  }

  #chance(one: number): boolean {
    return this.#random(one) === 0
  }

  #pick<Item>(items: readonly Item[]): Item {
    const item = items[this.#random(items.length)]
    if (item === undefined) throw new RangeError('nothing to pick from')
    return item
  }
}
