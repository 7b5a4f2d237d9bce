import { notValid } from '../http/messages.ts'

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
export type Literal = number | string | boolean

/** `<field> <operator> <value>`; a list may carry the name of a group, as in `circle(4)`. */
export interface Condition {
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
