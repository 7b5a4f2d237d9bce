/** Texts and marks; what stands between them is numbers and words. */
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],:]/g

/**
 * The text of a member of an object, as it stands in the JSON: numbers that JSON.parse would round keep all
 * their digits. Undefined if there is none; of several the last one, as JSON.parse takes it. The JSON has to
 * be valid.
 */
export function memberText(json: string, name: string): string | undefined {
  let depth = 0
  let text = ''
  let key: unknown
  let start = 0
  let found: string | undefined
  for (const { 0: token, index } of json.matchAll(TOKEN)) {
    if (token.startsWith('"')) text = token
    else if (token === '{' || token === '[') depth++
    else if (token === ':') {
      if (depth !== 1) continue
      key = JSON.parse(text)
      start = index + 1
    } else {
      const isEnd = depth === 1
      if (token !== ',') depth--
      if (isEnd && key === name) found = json.slice(start, index).trim()
      if (isEnd) key = undefined
    }
  }
  return found
}
