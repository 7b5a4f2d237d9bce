import { readFileSync } from 'node:fs'

/** The block of docs/writing.md whose fence has these words; throws unless there is one. */
export function guideBlock(words: string, file = 'docs/writing.md'): string {
  const guide = readFileSync(file, 'utf8')
  const blocks = [...guide.matchAll(/^```(.+)\n([\s\S]*?)^```$/gm)]
  const found = blocks.filter(([, fence]) => fence === words)
  if (found.length !== 1) throw new Error(`${file} has ${found.length} blocks ${words}`)
  return found[0]?.[2] ?? ''
}
