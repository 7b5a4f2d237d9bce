import type { Random } from './generated-body.ts'

/** What stands in the place of a value: what a scanner may skip quickly, and what it may not. */
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
  'true',
  'false',
  'null',
  '""',
  '"Deleted"',
  '"De\\u006ceted"',
  '"a"',
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
  '\\u0069d',
]

/** A value of the same kind each time that it is written, or of any. */
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

/** An object with these members each time, now and then with one missing, more or twice. */
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

/** Bodies as a service sends them: without white space, of elements that have a few shapes. */
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
      : pick(random, ['"Delete"', '"InsertOrUpdate"', '"De\\u006cete"'])
  const more = pick(random, [[], ['id'], ['x']])
  const members = random(4) === 0 ? ['data', 'changeType'] : ['changeType', ...more, 'data']
  return object(members, (name) => (name === 'data' ? record : name === 'x' ? scalar : type))
}
