/** Longer links are read with the rest of their page. */
const TAIL_BYTES = 4096
/** A member that is followed by the brace that ends the page. */
const LAST_MEMBER = /[{,]\s*"nextLink"\s*:\s*("(?:[^"\\]|\\.)+")\s*\}\s*$/

/**
 * The next link of a page that ends with it, found without looking at the records, so that the
 * next page can be requested before this one is worked on. In a page that is valid JSON nothing
 * else can stand there; undefined when the page ends with something else.
 */
export function lastNextLink(chunks: readonly Buffer[]): string | undefined {
  const [, text] = LAST_MEMBER.exec(tailOf(chunks)) ?? []
  try {
    return text === undefined ? undefined : (JSON.parse(text) as string)
  } catch {
    return undefined
  }
}

function tailOf(chunks: readonly Buffer[]): string {
  const parts: Buffer[] = []
  for (let i = chunks.length - 1, missing = TAIL_BYTES; i >= 0 && missing > 0; i--) {
    const part = (chunks[i] as Buffer).subarray(-missing)
    parts.unshift(part)
    missing -= part.length
  }
  return Buffer.concat(parts).toString('utf8')
}
