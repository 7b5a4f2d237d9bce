import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { Command } from 'commander'
import { describe, expect, it, onTestFinished } from 'vitest'
import { parse } from 'yaml'
import { startEmulator } from '../../emulator/emulator.ts'
import { guideBlocks } from '../../scripts/guide-blocks.ts'
import { serveOptions } from '../../src/cli/resource-commands.ts'
import { parseServeWords, type ServeWords } from '../../src/cli/serve-action.ts'
import { streamOf, webhookCollections } from '../../src/client/service-client.ts'
import { streams } from '../../src/streams/streams.ts'
import { executableOf } from '../testing/child.ts'
import { temporaryFolder } from '../testing/files.ts'
import { ask } from '../testing/protime.ts'
import { until } from './scene.ts'

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
  it('shows command lines that the program accepts', () => {
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

  it('divides all streams between two pipelines: those with webhooks, and the rest', () => {
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

const guide = readFileSync(new URL('../../docs/webhooks.md', import.meta.url), 'utf8')
const [section = ''] = guide.split('### Without a tenant\n')[1]?.split('\n### ') ?? []
const [start = '', serve = '', change = ''] = [...section.matchAll(/```sh\n(.*?)\n```/gs)].map(
  ([, lines = '']) => lines,
)

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { readonly port: number }
  await promisify(server.close.bind(server))()
  return port
}

it('docs/webhooks.md brings a change of the emulator into a DuckDB file', async () => {
  const { path: cwd, remove } = temporaryFolder()
  onTestFinished(remove)
  const receiver = `127.0.0.1:${await freePort()}`
  const [, flag, deliverTo = ''] = /(--deliver-to) (\S+)/.exec(start) ?? []
  expect([flag, deliverTo]).toEqual(['--deliver-to', 'http://127.0.0.1:8080'])
  const emulator = await startEmulator({
    people: 3,
    months: 1,
    controlPort: 0,
    deliverTo: `http://${receiver}`,
  })
  onTestFinished(() => emulator.close())
  symlinkSync(dirname(executableOf('protime')), join(cwd, 'bin'))
  const few = { ...emulator.config(), streams: ['people', 'jobs', 'clockings'] }
  writeFileSync(join(cwd, 'config.json'), JSON.stringify(few))
  // The same lines at addresses of this test, and without the ten seconds.
  const here = (lines: string) =>
    lines
      .replace('http://127.0.0.1:4011', emulator.controlUrl ?? '')
      .replace(
        'webhooks serve',
        `webhooks serve --listen ${receiver} --debounce 0.1 --min-interval 0.1`,
      )
  const server = spawn('sh', ['-e', '-c', here(serve).replace('bin/protime webhooks', 'exec $&')], {
    cwd,
  })
  const ended = once(server, 'exit')
  onTestFinished(async () => {
    server.kill()
    await ended
  })
  let log = ''
  server.stderr.on('data', (text: Buffer) => {
    log += text.toString()
  })
  await until(() => log.includes('Sync done'))
  await promisify(execFile)('sh', ['-e', '-c', here(change)], { cwd })
  await until(() => log.match(/Sync done/g)?.length === 2)
  const [person] = await ask(
    join(cwd, 'protime.duckdb'),
    'SELECT firstName FROM people WHERE id = 3',
  )
  expect(person).toEqual({ firstName: 'Ann' })
})
