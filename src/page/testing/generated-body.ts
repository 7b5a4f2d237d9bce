/** A random number generator: the same seed gives the same numbers. */
export type Random = (below: number) => number

/** Random numbers from 0 to `below` - 1 (mulberry32). */
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
  '0e1',
  '-0.0E-2',
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
  'date',
  'd\\u0061te',
]
const SPACES = ['', '', '', '', ' ', '\n', '\r\n\t', '  ']

/** Writes bodies that resemble those of the service, with every variation that JSON allows. */
export class BodyWriter {
  readonly #random: Random

  constructor(random: Random) {
    this.#random = random
  }

  /** A body of valid JSON, nearly always with the members of a page. */
  body(): string {
    const members = [
      `"${this.#pick(['value', 'value', 'Value', 'v\\u0061lue'])}"${this.#colon()}${this.#items()}`,
    ]
    if (this.#chance(3)) members.push(`"nextLink"${this.#colon()}${this.#link()}`)
    if (this.#chance(10)) members.push(`"NextLink"${this.#colon()}${this.#link()}`)
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
      `"changeType"${this.#colon()}"${this.#pick(['Delete', 'InsertOrUpdate', 'De\\u006cete', 'insert', 'DELETE'])}"`,
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

/** Values, some of which a scanner may skip quickly. */
const SCALARS = [
  '0',
  '-0',
  '7',
  '4711',
  '-12',
  '1.50',
  '123456789012345',
  '1234567890123456',
  '0.123456789012345678',
  '1e3',
  '2.5E-7',
  '0E5',
  'true',
  'false',
  'null',
  '""',
  '"Deleted"',
  '"De\\u006ceted"',
  '"a"',
  '"2026-03-01"',
  '"2026\\u002d03-01"',
  '"2026-03-01T08:00:00"',
  '"plain text of some length, and a bit more"',
  '"Zo\\u00EB \\"x\\" \\\\"',
  '"é 😀"',
  '"},{"',
  '[]',
  '{}',
]
const DAMAGED = [
  '01',
  '1.',
  '[1.]',
  '-',
  'tru',
  'nul',
  '"a\\x"',
  '"\t"',
  '[1,]',
  '{"a":}',
  '{"a"11}',
  '[{"a";1}]',
  '[1',
  '+1',
  '',
]
const NAMES = [
  'x',
  'name',
  'a rather long name of a member',
  'person',
  'y',
  'activityLevels',
  'é',
  'n\\u0061me',
  'date',
  '\\u0069d',
]

/** Writes a value, each time of the same kind or of any kind. */
type Template = (random: Random) => string

function pick<Item>(random: Random, items: readonly Item[]): Item {
  return items[random(items.length)] as Item
}

function scalar(random: Random): string {
  if (random(300) === 0) return pick(random, DAMAGED)
  return random(3) === 0 ? pick(random, SCALARS) : String(random(1_000_000))
}

function array(random: Random, depth = 2): string {
  const items = Array.from({ length: random(4) }, () => {
    if (depth === 0 || random(2) === 0) return scalar(random)
    if (random(2) === 0) return array(random, depth - 1)
    return `{${random(4) === 0 ? '' : `"name":${scalar(random)},"v":${scalar(random)}`}}`
  })
  return `[${items.join(',')}]`
}

/** A template for an object with these members, of which one is sometimes missing, additional or repeated. */
function object(names: readonly string[], templateOf: (name: string) => Template): Template {
  const values = names.map((name) => [name, templateOf(name)] as const)
  return (random) => {
    const members = values.map(([name, value]) => `"${name}":${value(random)}`)
    if (random(30) === 0) members.splice(random(members.length), 1)
    if (random(30) === 0) members.push(`"${pick(random, names)}":${scalar(random)}`)
    if (random(60) === 0) members.reverse()
    return `{${members.join(random(60) === 0 ? ', ' : ',')}}`
  }
}

function templateOf(random: Random, depth: number): (name: string) => Template {
  return (name) => {
    if (name === 'id') {
      return (random) => (random(20) === 0 ? scalar(random) : String(random(1_000_000)))
    }
    if (name === 'changeVersion') {
      return (random) =>
        random(30) === 0 ? scalar(random) : `"00000A1000005C${random(1_000_000)}"`
    }
    const kind = random(6)
    if (kind === 0) return array
    if (kind === 1 && depth > 0)
      return object([pick(random, NAMES), 'z'], templateOf(random, depth - 1))
    return scalar
  }
}

/** Bodies as the service sends them: without white space, and with elements of only a few shapes. */
export function shapedBodies(random: Random): readonly string[] {
  const shapes = Array.from({ length: 1 + random(6) }, () => template(random))
  return Array.from({ length: 2 }, () => {
    const elements = Array.from({ length: 2 + random(12) }, () => pick(random, shapes)(random))
    return `{"value":[${elements.join(',')}]${random(2) === 0 ? ',"nextLink":"/x"' : ''}}`
  })
}

function template(random: Random): Template {
  const names = ['changeVersion', 'id', ...(random(2) === 0 ? ['status'] : [])]
  for (let count = random(5); count > 0; count--) names.push(pick(random, NAMES))
  if (random(8) === 0) names.push('data')
  if (random(8) === 0) names.push('changeType')
  if (random(3) === 0) names.push(pick(random, names))
  if (random(3) === 0) names.reverse()
  const record = object(names, templateOf(random, 2))
  if (random(3) > 0) return record
  const type: Template = (random) =>
    random(30) === 0
      ? scalar(random)
      : pick(random, ['"Delete"', '"InsertOrUpdate"', '"De\\u006cete"', '"UPDATE"'])
  const more = pick(random, [[], ['id'], ['x'], ['data']])
  const members = random(4) === 0 ? ['data', 'changeType'] : ['changeType', ...more, 'data']
  return object(members, (name) => (name === 'data' ? record : name === 'x' ? scalar : type))
}
