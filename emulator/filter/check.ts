import { isDate } from '../clock.ts'
import { notValid } from '../http/messages.ts'
import type { Fields, Store, StoredRecord } from '../store/store.ts'

/** A piece of a filter: a word (field, operator or name), a literal, or a mark: `(`, `)` or `,`. */
type Token =
  | { readonly kind: 'word'; readonly text: string }
  | { readonly kind: 'integer'; readonly value: number }
  | { readonly kind: 'string'; readonly value: string }
  | { readonly kind: 'mark'; readonly text: string }

const pieces = /\s*(?:([A-Za-z][A-Za-z0-9-]*)|(-?\d+)(?![\w-])|'((?:[^']|'')*)'|([(),]))/y

/** Splits a filter into its pieces; a quote inside a string is doubled. Anything else is a 400. */
function tokenize(filter: string): Token[] {
  const tokens: Token[] = []
  const end = filter.trimEnd().length
  pieces.lastIndex = 0
  while (pieces.lastIndex < end) {
    const at = pieces.lastIndex
    const match = pieces.exec(filter)
    if (!match)
      throw notValid(`The filter cannot be read from position ${at}: ${filter.slice(at, at + 20)}`)
    tokens.push(tokenOf(match))
  }
  return tokens
}

function tokenOf([, word, integer, text, mark]: RegExpExecArray): Token {
  if (word !== undefined) return { kind: 'word', text: word }
  if (integer !== undefined) return { kind: 'integer', value: Number(integer) }
  if (text !== undefined) return { kind: 'string', value: text.replaceAll("''", "'") }
  return { kind: 'mark', text: mark ?? '' }
}

/** A constant of a filter. */
type Literal = number | string | boolean

/** `<field> <operator> <value>`; a list may carry the name of a group, as in `circle(4)`. */
interface Condition {
  readonly type: 'condition'
  readonly field: string
  readonly operator: 'eq' | 'ge' | 'le' | 'in'
  readonly values: readonly Literal[]
  readonly group: string | undefined
}

/** A filter: one condition, or several joined by `and` or `or`. */
export type Expression =
  | Condition
  | { readonly type: 'and' | 'or'; readonly parts: readonly Expression[] }

const operators = ['eq', 'ge', 'le', 'in']
const reserved = [...operators, 'and', 'or', 'true', 'false']

/**
 * Reads a filter: conditions joined by `and`, which binds more closely than `or`, and parentheses
 * around expressions. Any other text is a 400.
 */
export function parseFilter(filter: string): Expression {
  const reader = createReader(tokenize(filter))
  const expression = joined(reader, 'or', () => joined(reader, 'and', () => operand(reader)))
  if (reader.peek())
    throw notValid(`The filter does not end where it should: ${describe(reader.peek())}`)
  return expression
}

interface Reader {
  peek(): Token | undefined
  /** Takes the next token when it is this word or mark. */
  takes(text: string): boolean
  next(): Token | undefined
}

function createReader(tokens: readonly Token[]): Reader {
  let at = 0
  const peek = () => tokens[at]
  return {
    peek,
    takes(text) {
      const token = peek()
      const found = (token?.kind === 'word' || token?.kind === 'mark') && token.text === text
      if (found) at += 1
      return found
    },
    next: () => tokens[at++],
  }
}

function joined(reader: Reader, type: 'and' | 'or', part: () => Expression): Expression {
  const first = part()
  const parts = [first]
  while (reader.takes(type)) parts.push(part())
  return parts.length === 1 ? first : { type, parts }
}

function operand(reader: Reader): Expression {
  if (!reader.takes('(')) return condition(reader)
  const inner = joined(reader, 'or', () => joined(reader, 'and', () => operand(reader)))
  expect(reader, ')')
  return inner
}

function condition(reader: Reader): Condition {
  const field = reader.next()
  if (field?.kind !== 'word' || reserved.includes(field.text)) {
    throw notValid(`A field name is missing before ${describe(field)}`)
  }
  const operator = reader.next()
  if (operator?.kind !== 'word' || !operators.includes(operator.text)) {
    throw notValid(`After ${field.text} comes eq, ge, le or in, not ${describe(operator)}`)
  }
  const named = { field: field.text, operator: operator.text as Condition['operator'] }
  if (named.operator !== 'in') {
    return { type: 'condition', ...named, values: [literal(reader)], group: undefined }
  }
  return { type: 'condition', ...named, ...list(reader) }
}

function list(reader: Reader): Pick<Condition, 'values' | 'group'> {
  const head = reader.peek()
  const group = head?.kind === 'word' ? head.text : undefined
  if (group !== undefined) reader.next()
  expect(reader, '(')
  const values = [literal(reader)]
  while (reader.takes(',')) values.push(literal(reader))
  expect(reader, ')')
  return { values, group }
}

function literal(reader: Reader): Literal {
  const token = reader.next()
  if (token?.kind === 'integer' || token?.kind === 'string') return token.value
  if (token?.kind === 'word' && token.text === 'true') return true
  if (token?.kind === 'word' && token.text === 'false') return false
  throw notValid(
    `A value is missing before ${describe(token)}: strings and dates need single quotes`,
  )
}

function expect(reader: Reader, mark: string): void {
  if (!reader.takes(mark)) throw notValid(`"${mark}" is missing before ${describe(reader.peek())}`)
}

function describe(token: Token | undefined): string {
  if (!token) return 'the end of the filter'
  return `"${'text' in token ? token.text : token.value}"`
}

/** One filter field: its category, the type of its literals, and its value in a record. */
interface FilterField {
  readonly category: 'single' | 'multiple' | 'range'
  readonly type: 'integer' | 'string' | 'boolean' | 'date'
  read(record: StoredRecord): unknown
}

/** The filter fields of all collections, by name. Their categories are not documented. */
const filterFields: Readonly<Record<string, FilterField>> = {
  date: { category: 'range', type: 'date', read: (record) => record.date },
  person: { category: 'multiple', type: 'integer', read: (record) => record.person },
  kind: { category: 'multiple', type: 'string', read: (record) => fieldsOf(record)['kind'] },
  status: { category: 'multiple', type: 'string', read: (record) => fieldsOf(record)['status'] },
  'collection-name': {
    category: 'multiple',
    type: 'string',
    read: (record) => fieldsOf(record)['collectionName'],
  },
  'counter-definition': {
    category: 'multiple',
    type: 'integer',
    read: (record) => idOf(record, 'counterDefinition'),
  },
  'counter-group': {
    category: 'multiple',
    type: 'integer',
    read: (record) => idOf(record, 'counterGroup'),
  },
  enabled: { category: 'single', type: 'boolean', read: (record) => fieldsOf(record)['isEnabled'] },
}

/** Whether a literal has the type of the field. A date is any string here; `checkCondition` checks it further. */
function fits({ type }: FilterField, value: Literal): boolean {
  if (type === 'integer') return Number.isInteger(value)
  return typeof value === (type === 'boolean' ? 'boolean' : 'string')
}

function fieldsOf(record: StoredRecord): Fields {
  return JSON.parse(record.text)
}

function idOf(record: StoredRecord, property: string): unknown {
  return (fieldsOf(record)[property] as Fields | undefined)?.['id']
}

/** A filter that may be used: the range of dates that it asks for, and the test of a record. */
export interface Filter {
  readonly start: string | undefined
  readonly end: string | undefined
  matches(record: StoredRecord): boolean
}

/** The people of a named list such as `circle(4)`; undefined for a name that does not exist. */
export type PersonGroups = (group: string, id: number) => readonly number[] | undefined

/** Lets every record pass. */
export const everything: Filter = { start: undefined, end: undefined, matches: () => true }

type Test = (record: StoredRecord) => boolean

interface Bounds {
  start?: string
  end?: string
}

/**
 * Checks a filter against the rules: known fields only, the operators of each field's category,
 * literals of the right type, `or` only on fields of the category Multiple. If conditions on the same Multiple field are
 * joined by `and`, the values of all of them are accepted. Throws 400 for anything else.
 */
export function checkFilter(
  expression: Expression,
  allowed: readonly string[],
  personGroups: PersonGroups,
): Filter {
  for (const condition of conditions(expression)) checkCondition(condition, allowed)
  checkOrs(expression)
  checkSingles(conditions(expression))
  const bounds: Bounds = {}
  for (const condition of conditions(expression)) {
    if (condition.field === 'date') narrow(bounds, condition)
  }
  const test = testOf(expression, personGroups)
  return {
    start: bounds.start,
    end: bounds.end,
    matches: (record) => inBounds(record.date, bounds) && test(record),
  }
}

function conditions(expression: Expression): Condition[] {
  return expression.type === 'condition' ? [expression] : expression.parts.flatMap(conditions)
}

function checkOrs(expression: Expression): void {
  if (expression.type === 'condition') return
  for (const part of expression.parts) checkOrs(part)
  if (expression.type === 'and') return
  for (const { field } of conditions(expression)) {
    if (filterFields[field]?.category === 'multiple') continue
    throw notValid(`The operator or is not allowed on the field ${field}`)
  }
}

/** The test of all conditions but those on dates, which cannot be joined by `or`; `inBounds` tests these. */
function testOf(expression: Expression, personGroups: PersonGroups): Test {
  if (expression.type === 'or') {
    const tests = expression.parts.map((part) => testOf(part, personGroups))
    return (record) => tests.some((test) => test(record))
  }
  const wanted = new Map<string, Set<unknown>>()
  const tests: Test[] = []
  for (const term of terms(expression)) {
    if (term.type !== 'condition') tests.push(testOf(term, personGroups))
    else if (term.field !== 'date') add(wanted, term, personGroups)
  }
  for (const [field, values] of wanted) {
    tests.push((record) => values.has(filterFields[field]?.read(record)))
  }
  return (record) => tests.every((test) => test(record))
}

/** The operands of `and`, including those inside of parentheses. */
function terms(expression: Expression): Expression[] {
  return expression.type === 'and' ? expression.parts.flatMap(terms) : [expression]
}

function checkCondition({ field, operator, values, group }: Condition, allowed: readonly string[]) {
  const facts = filterFields[field]
  if (!facts || !allowed.includes(field)) throw notValid(`Unknown filter field ${field}`)
  const range = operator === 'ge' || operator === 'le'
  const list = operator === 'in'
  const wrong =
    facts.category === 'range' ? list : range || (facts.category === 'single' && values.length > 1)
  if (wrong) throw notValid(`The operator ${operator} is not allowed on the field ${field}`)
  if (group !== undefined && field !== 'person') throw notValid(`${field} has no group ${group}`)
  for (const value of values) {
    if (!fits(facts, value)) throw notValid(`${value} is no ${facts.type} for the field ${field}`)
    if (facts.type === 'date' && !isDate(String(value))) throw notValid(`'${value}' is no date`)
  }
}

function narrow(bounds: Bounds, { operator, values }: Condition): void {
  const date = String(values[0])
  if (operator !== 'le' && (bounds.start === undefined || date > bounds.start)) bounds.start = date
  if (operator !== 'ge' && (bounds.end === undefined || date < bounds.end)) bounds.end = date
}

function add(
  wanted: Map<string, Set<unknown>>,
  condition: Condition,
  personGroups: PersonGroups,
): void {
  const { field, values, group } = condition
  const known = wanted.get(field) ?? new Set()
  wanted.set(field, known)
  for (const value of values) {
    for (const one of group === undefined ? [value] : resolve(group, value, personGroups))
      known.add(one)
  }
}

function resolve(group: string, value: Literal, personGroups: PersonGroups): readonly number[] {
  const people = personGroups(group, Number(value))
  if (!people) throw notValid(`There are no lists of the kind ${group}: use circle or org-group`)
  return people
}

function checkSingles(all: readonly Condition[]): void {
  const singles = all.filter(({ field }) => filterFields[field]?.category === 'single')
  for (const { field, values } of singles) {
    const differs = singles.some((other) => other.field === field && other.values[0] !== values[0])
    if (differs) throw notValid(`The field ${field} takes one value only`)
  }
}

function inBounds(date: string | undefined, { start, end }: Bounds): boolean {
  if (start === undefined && end === undefined) return true
  return (
    date !== undefined &&
    (start === undefined || date >= start) &&
    (end === undefined || date <= end)
  )
}

/** The number of circles; everybody is in one. */
const circles = 4

/** The people of `circle(n)`, and of `org-group(n)`: those whose current department is n. */
export function createPersonGroups(store: Store): PersonGroups {
  return (group, id) => {
    if (group === 'circle') {
      const ids = store.records('people').map((record) => Number(record.id))
      return ids.filter((person) => (person % circles) + 1 === id)
    }
    if (group !== 'org-group') return undefined
    return [...store.records('department-histories')].flatMap(({ text, person }) => {
      const { until, department } = JSON.parse(text) as Fields
      const current = until === null && (department as Fields | undefined)?.['id'] === id
      return current && person !== undefined ? [person] : []
    })
  }
}
