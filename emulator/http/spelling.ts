import { exactFieldsOf, type Fields, textOf } from '../store/store.ts'

const tokens = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\]:,]/g
const characters = /\\u[0-9a-f]{4}|\\.|[\s\S]/giu
/** A longer text or name stays as it is: escapes would make a long one too long. */
const longest = 150
const spaces = ['', '', '', ' ', '\n', '\t ', '\r\n']

/**
 * Writes JSON in another way: with its members in another order, spaces between its tokens, and escapes for some
 * characters of its texts and names. The same number writes the same text in the same way. An empty body stays empty.
 */
export function respelled(json: string, number: number): string {
  if (json === '') return json
  let seed = number
  function below(limit: number): number {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((seed / 2 ** 32) * limit)
  }
  const space = () => spaces[below(spaces.length)] as string
  const escaped = (character: string) =>
    character.length > 1 || below(8) > 0
      ? character
      : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
  return textOf(reordered(exactFieldsOf(json), below) as Fields).replace(tokens, (token) => {
    if (!token.startsWith('"')) return `${space()}${token}${space()}`
    return token.length > longest ? token : `"${token.slice(1, -1).replace(characters, escaped)}"`
  })
}

function reordered(value: unknown, below: (limit: number) => number): unknown {
  if (Array.isArray(value)) return value.map((one) => reordered(one, below))
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).map(([name, inner]) => {
    const member = [name, reordered(inner, below)] as const
    return { member, at: below(1_000) }
  })
  return Object.fromEntries(members.sort((a, b) => a.at - b.at).map(({ member }) => member))
}
