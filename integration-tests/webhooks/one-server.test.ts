import { readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { expect, it } from 'vitest'
import { type Scene, startScene, until } from './scene.ts'

const locks = ({ folder }: Scene) => readdirSync(folder).filter((name) => name.endsWith('.lock'))

it('a second server on one store is refused, with the process that has it', async () => {
  const scene = await startScene()
  const first = await scene.serveApart()
  await until(() => scene.orders().length === 1)
  const before = readFileSync(scene.file('webhooks.json'), 'utf8')
  const { exitCode, stderr } = await scene.protime(...scene.words())
  expect([exitCode, stderr]).toEqual([2, expect.stringContaining('Another protime webhooks serve')])
  expect(stderr).toContain(`process ${first.child.pid} on host`)
  expect(stderr.trimEnd().split('\n')).toHaveLength(1)
  expect(readFileSync(scene.file('webhooks.json'), 'utf8')).toBe(before)
})

it('webhooks of a running server are not deleted', async () => {
  const scene = await startScene()
  await scene.serve()
  await until(() => scene.live().length === 18)
  const { exitCode, stderr } = await scene.protime(...scene.words({ '--unsubscribe': true }))
  expect([exitCode, stderr]).toEqual([2, expect.stringContaining('Stop that one first')])
  expect(scene.live()).toHaveLength(18)
})

it('a store is the same under the name of a link', async () => {
  const scene = await startScene()
  await scene.serve()
  await until(() => scene.live().length === 18)
  symlinkSync(scene.file('webhooks.json'), scene.file('link.json'))
  const words = scene.words({ '--store': scene.file('link.json'), '--unsubscribe': true })
  const { exitCode, stderr } = await scene.protime(...words)
  expect([exitCode, stderr]).toEqual([2, expect.stringContaining('Stop that one first')])
  expect(scene.live()).toHaveLength(18)
})

it('the remaining lock of a killed server blocks no other, and a stopped one leaves none', async () => {
  const scene = await startScene()
  for (let times = 0; times < 2; times++) {
    const server = await scene.serveApart()
    expect(locks(scene)).toHaveLength(1)
    server.child.kill('SIGKILL')
    await server.exited
    expect(locks(scene)).toHaveLength(1)
  }
  const last = await scene.serveApart()
  await last.endsSoonAfter(() => last.child.kill('SIGTERM'), last.exited)
  expect(locks(scene)).toEqual([])
})

it('a server that is suspended keeps its store', async () => {
  const scene = await startScene()
  const first = await scene.serveApart()
  first.child.kill('SIGSTOP')
  const { exitCode, stderr } = await scene.protime(...scene.words())
  first.child.kill('SIGCONT')
  expect([exitCode, stderr]).toEqual([2, expect.stringContaining('does not answer')])
})

it('servers that create no webhooks may share one store', async () => {
  const scene = await startScene()
  scene.write('webhooks.json', { version: 1, webhooks: [] })
  const options = { '--keys-only': true, '--public-url': undefined } as const
  await Promise.all([scene.serve(options), scene.serve(options)])
})
