const tokens = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\]:,]/g
const characters = /\\u[0-9a-f]{4}|\\.|[\s\S]/gi
/** A longer text stays as it is, because it would take seconds. */
const longest = 10_000
const spaces = ['', '', '', ' ', '\n', '\t ', '\r\n']

/**
 * Writes JSON in another way: with spaces between its tokens, and with escapes for some characters of its texts and
 * names. The same number writes the same text in the same way.
 */
export function respelled(json: string, number: number): string {
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
  return json.replace(tokens, (token) => {
    if (!token.startsWith('"')) return `${space()}${token}${space()}`
    return token.length > longest ? token : `"${token.slice(1, -1).replace(characters, escaped)}"`
  })
}
