import { notValid } from '../http/service-error.ts'

/** A piece of a filter: a word (field, operator or name), a literal, or a mark: `(`, `)` or `,`. */
export type Token =
  | { readonly kind: 'word'; readonly text: string }
  | { readonly kind: 'integer'; readonly value: number }
  | { readonly kind: 'string'; readonly value: string }
  | { readonly kind: 'mark'; readonly text: string }

const pieces = /\s*(?:([A-Za-z][A-Za-z0-9-]*)|(-?\d+)(?![\w-])|'((?:[^']|'')*)'|([(),]))/y

/** Splits a filter into its pieces; a quote inside a string is doubled. Anything else is a 400. */
export function tokenize(filter: string): Token[] {
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
