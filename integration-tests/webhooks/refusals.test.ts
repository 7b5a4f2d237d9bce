import { existsSync } from 'node:fs'
import { createServer } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { type Scene, startScene } from './scene.ts'

/** Somebody else's port. */
async function takePort(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await new Promise((resolve) => server.once('listening', resolve))
  return `127.0.0.1:${(server.address() as { readonly port: number }).port}`
}

it.each([
  [
    'a port in use',
    async () => ({ '--listen': await takePort() }),
    /another program listens there/,
  ],
  [
    'a store of another version',
    async (scene: Scene) => {
      scene.write('later.json', { version: 999, webhooks: [] })
      return { '--store': scene.file('later.json') }
    },
    /has version 999/,
  ],
  [
    'a store that cannot be written',
    async (scene: Scene) => ({ '--store': scene.file('missing/webhooks.json') }),
    /cannot be written \(ENOENT\)/,
  ],
  [
    'a catalog that is none',
    async (scene: Scene) => ({ '--catalog': scene.file('config.json') }),
    /--catalog is not a configured catalog/,
  ],
  ['a public URL without TLS', async () => ({ '--public-url': 'http://a.example' }), /https/],
  ['no way to sync', async () => ({ '--run': undefined }), /one of --run/],
])(
  'protime webhooks serve ends with 2 and a sentence for %s, and creates nothing',
  async (_, options, sentence) => {
    const scene = await startScene()
    const { exitCode, stderr } = await scene.protime(...scene.words(await options(scene)))
    expect([exitCode, stderr]).toEqual([2, expect.stringMatching(sentence)])
    expect(stderr.trimEnd().split('\n')).toHaveLength(1)
    expect(scene.emulator.webhooks()).toEqual([])
    expect(existsSync(scene.file('webhooks.json'))).toBe(false)
  },
)
