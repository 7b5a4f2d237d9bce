import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageFolder } from '../../../scripts/demo/paths.ts'
import { installBlocks } from '../../../scripts/install-guide.ts'

const GUIDE = 'docs/webhooks.md'

/** A block of docs/webhooks.md, by its language and the word behind it. */
export function recipe(language: 'js' | 'json' | 'sh' | 'sql', word: string): string {
  const blocks = installBlocks(readFileSync(join(packageFolder, GUIDE), 'utf8'))
  const found = blocks.filter((block) => block.language === language && block.place === word)
  const [block] = found
  if (block === undefined || found.length > 1)
    throw new Error(`${GUIDE} has ${found.length} blocks of ${language} ${word}`)
  return block.text
}
