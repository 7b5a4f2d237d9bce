import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { freePort } from '../engines/command.ts'
import { parseLines } from '../testing/run.ts'
import { type Scene, startScene, until } from './scene.ts'

/** Something on the way of deliveries: what is sent to it is answered by `answer`, from the path and the body. */
async function startProxy(
  answer: (path: string, authorization: string, body: string) => Promise<Response>,
): Promise<string> {
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part)
    const { url = '', headers } = request
    const body = Buffer.concat(parts).toString()
    const said = await answer(url, headers.authorization ?? '', body)
    response.writeHead(said.status, Object.fromEntries(said.headers))
    response.end(Buffer.from(await said.arrayBuffer()))
  }).listen(0, '127.0.0.1')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const test = async (scene: Scene, ...words: string[]) => {
  const end = await scene.protime(
    'webhooks',
    'test',
    '--store',
    scene.file('webhooks.json'),
    ...words,
  )
  return { ...end, outcomes: parseLines(end.stdout) }
}

it('protime webhooks test delivers to itself through the public URL, once per collection', async () => {
  const scene = await startScene()
  const address = `127.0.0.1:${await freePort()}`
  await scene.serve({
    '--collection': 'people,breaks',
    '--listen': address,
    '--public-url': `http://${address}/protime`,
  })
  await until(() => scene.orders().length === 1)
  const { exitCode, outcomes } = await test(scene)
  expect([exitCode, outcomes]).toEqual([
    0,
    [
      { collection: 'people', outcome: 'delivered' },
      { collection: 'breaks', outcome: 'delivered' },
    ],
  ])
  const rung = () => scene.orders().slice(1)
  await until(() => new Set(rung().flatMap(({ streams }) => streams)).size === 2)
  expect(new Set(rung().map(({ reason }) => reason))).toEqual(new Set(['delivery']))
  const { outcomes: chosen } = await test(scene, '--collection', 'breaks')
  expect(chosen).toEqual([{ collection: 'breaks', outcome: 'delivered' }])
})

const ANSWERS: [string, number, string, RegExp][] = [
  [
    'a page of its own',
    404,
    '<html>',
    /responded with 404 and a page.*its path is not that of the public URL/,
  ],
  ['a 404 of the server', 404, '', /knows no webhook with this address/],
  ['a 502', 502, '', /does not reach the server/],
  ['a redirection', 301, '', /Deliveries are redirected/],
  ['a 200 to everything', 200, '', /another server listens/],
]
it.each(ANSWERS)(
  'protime webhooks test says what is wrong with a proxy that gives %s',
  async (_, status, body, sentence) => {
    const scene = await startScene()
    const url = await startProxy(async () => new Response(body === '' ? null : body, { status }))
    const destinationUrl = `${url}/hooks/people/4fd9a1b2c3d4e5f60718293a4b5c6d7e`
    scene.write('webhooks.json', {
      version: 1,
      webhooks: [{ collection: 'people', destinationUrl, key: 'a key of the webhook' }],
    })
    const { exitCode, outcomes, stderr } = await test(scene)
    expect([exitCode, outcomes]).toEqual([
      1,
      [{ collection: 'people', outcome: 'failed', reason: expect.stringMatching(sentence) }],
    ])
    expect(stderr + JSON.stringify(outcomes)).not.toMatch(/4fd9a1b2c3d4|a key of/)
  },
)

it('protime webhooks test notices a proxy that rewrites bodies', async () => {
  const scene = await startScene()
  const listen = `127.0.0.1:${await freePort()}`
  const url = await startProxy((path, authorization, body) =>
    fetch(`http://${listen}${path}`, {
      method: 'POST',
      headers: { authorization },
      body: JSON.stringify(JSON.parse(body)),
    }),
  )
  await scene.serve({ '--collection': 'people', '--listen': listen, '--public-url': url })
  await until(() => scene.orders().length === 1)
  const { exitCode, outcomes } = await test(scene)
  expect([exitCode, outcomes]).toEqual([
    1,
    [
      expect.objectContaining({
        reason: expect.stringMatching(/body or its Authorization header was changed on the way/),
      }),
    ],
  ])
})

it('protime webhooks test fails without a webhook', async () => {
  const scene = await startScene()
  const { exitCode, stderr } = await test(scene)
  expect([exitCode, stderr]).toEqual([2, expect.stringContaining('has no webhook')])
})
