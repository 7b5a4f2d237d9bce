import { readFileSync } from 'node:fs'

/** The blocks of a page whose fence has these words, in their order. */
export function guideBlocks(words: string, file = 'docs/writing.md'): string[] {
  const blocks = [...readFileSync(file, 'utf8').matchAll(/^```(.+)\n([\s\S]*?)^```$/gm)]
  return blocks.flatMap(([, fence, text = '']) => (fence === words ? [text] : []))
}

/** The block of a page whose fence has these words; throws unless there is exactly one. */
export function guideBlock(words: string, file = 'docs/writing.md'): string {
  const [block, ...others] = guideBlocks(words, file)
  if (block !== undefined && others.length === 0) return block
  throw new Error(`${file} has not one block ${words}`)
}
