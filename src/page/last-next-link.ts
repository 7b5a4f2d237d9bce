/** A longer link is found when its page is scanned. */
const TAIL_BYTES = 4096
const NAME = Buffer.from('"nextLink"')
/** Matches the member and the brace that ends the page, from the name on. */
const LAST_MEMBER = /^"nextLink"\s*:\s*("(?:[^"\\]|\\.)+")\s*\}\s*$/
/** Matches what comes before a member. */
const BEFORE = /[{,]\s*$/

/**
 * Returns the next link of a page that ends with it, without scanning the records, so that the next page can be
 * requested before this one is processed. In a valid page nothing else can match; undefined if the page ends with
 * something else.
 */
export function lastNextLink(chunks: readonly Buffer[]): string | undefined {
  const tail = tailOf(chunks)
  const at = tail.lastIndexOf(NAME)
  if (at < 0 || !BEFORE.test(tail.toString('latin1', Math.max(0, at - 16), at))) return undefined
  const [, text] = LAST_MEMBER.exec(tail.toString('utf8', at)) ?? []
  try {
    return text === undefined ? undefined : (JSON.parse(text) as string)
  } catch {
    return undefined
  }
}

function tailOf(chunks: readonly Buffer[]): Buffer {
  const last = chunks.at(-1)
  if (last !== undefined && last.length >= TAIL_BYTES) return last.subarray(-TAIL_BYTES)
  const parts: Buffer[] = []
  for (let i = chunks.length - 1, missing = TAIL_BYTES; i >= 0 && missing > 0; i--) {
    const part = (chunks[i] as Buffer).subarray(-missing)
    parts.unshift(part)
    missing -= part.length
  }
  return Buffer.concat(parts)
}
