import { Command } from 'commander'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { type ServeWords, serveOptions } from '../../src/cli/serve-options.ts'
import { parseServeWords } from '../../src/cli/serve-settings.ts'
import { streams } from '../../src/streams/streams.ts'
import { streamOf, webhookCollections } from '../../src/webhooks/serve/webhook-collections.ts'
import { guideBlocks } from '../testing/guide-block.ts'

const blocks = (words: string) => guideBlocks(words, 'docs/webhooks.md')

const [airbyte = ''] = blocks('sh serve').filter((block) => block.includes('AIRBYTE_URL'))
const environment = Object.fromEntries(
  [...airbyte.matchAll(/(AIRBYTE_\w+)=(\S+)/g)].map(([, name, value]) => [name, value]),
)

/** The command line of a block, in words as the shell makes them of it. */
function wordsOf(block: string): string[] {
  const line = /\bwebhooks serve ((?:.*\\\n)*.*)/.exec(block)?.[1] ?? ''
  const words = line.replaceAll('\\\n', ' ').matchAll(/'([^']*)'|(\S+)/g)
  return [...words].map(([, quoted, plain]) => quoted ?? plain ?? '')
}

describe('docs/webhooks.md', () => {
  it('shows command lines that the program takes', () => {
    const shown = ['sh serve', 'ini systemd', 'sh docker'].flatMap(blocks)
    expect(shown).toHaveLength(6)
    for (const block of shown) {
      const command = new Command().option('--config <file>').exitOverride()
      for (const option of serveOptions()) command.addOption(option)
      command.parse(wordsOf(block), { from: 'user' })
      const words = command.opts<ServeWords>()
      if (words.unsubscribe !== true)
        expect(parseServeWords(words, environment).publicUrl).not.toBe('')
    }
  })

  it('parts all streams between two pipelines: those with webhooks, and the rest', () => {
    const [block = ''] = blocks('yaml meltano')
    const { plugins } = parse(block) as {
      plugins: { extractors: readonly { name: string; select: readonly string[] }[] }
    }
    const [live, rest] = plugins.extractors.map(({ select }) => select)
    const subscribed = webhookCollections.map(streamOf)
    expect(live).toEqual(subscribed.map((name) => `${name}.*`))
    expect(rest).toEqual(['*.*', ...subscribed.map((name) => `!${name}.*`)])
    for (const name of subscribed) expect(streams.has(name)).toBe(true)
  })
})
