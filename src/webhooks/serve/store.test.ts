import { mkdtempSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { ofAnotherUser } from '../../../integration-tests/testing/files.ts'
import { openHookStore, readStore, type StoredHook, writeStore } from './store.ts'

const HOOK: StoredHook = {
  collection: 'people',
  destinationUrl: 'https://hooks.acme.example/hooks/people/4fd9a1b2c3d4e5f60718293a4b5c6d7e',
  state: 'live',
  id: '42',
  key: 'k3y-é/+=',
  createdAt: '2026-07-15T08:30:00.000Z',
}

const OWNER = { tenant: 'acme', baseUrl: 'https://acme.example' }

const newPath = () => join(mkdtempSync(join(tmpdir(), 'protime-')), 'webhooks.json')

describe('the store', () => {
  it('is empty while there is no file', async () => {
    expect(await readStore(newPath())).toEqual({ hooks: [] })
  })

  it('reads what it has written, from a file that only its owner can read', async () => {
    const path = newPath()
    await writeStore(path, { hooks: [HOOK], owner: OWNER })
    expect(await readStore(path)).toEqual({ hooks: [HOOK], owner: OWNER })
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(readFileSync(path, 'utf8')).toContain('"version": 1')
  })

  it('is neither read nor replaced behind a link or if it belongs to another user', async () => {
    const [link, other] = [newPath(), newPath()]
    await writeStore(other, { hooks: [HOOK] })
    symlinkSync(other, link)
    await expect(readStore(link)).rejects.toThrow('is a symbolic link')
    await expect(writeStore(link, { hooks: [] })).rejects.toThrow('is a symbolic link')
    onTestFinished(ofAnotherUser(other))
    await expect(readStore(other)).rejects.toThrow('belongs to another user')
    await expect(writeStore(other, { hooks: [] })).rejects.toThrow('belongs to another user')
    expect(readFileSync(other, 'utf8')).toContain('k3y')
  })

  it.each([
    ['tenant', { ...OWNER, tenant: 'other' }],
    ['address', { ...OWNER, baseUrl: 'https://test.acme.example' }],
  ])('is refused with the configuration of another %s', async (_, other) => {
    const path = newPath()
    await writeStore(path, { hooks: [HOOK], owner: OWNER })
    await expect(openHookStore(path, () => {}, other)).rejects.toThrow(/of the tenant acme at/)
    expect((await openHookStore(path, () => {}, OWNER)).hooks).toEqual([HOOK])
  })

  it('of an earlier version belongs to whoever opens it, and names its owner from then on', async () => {
    const path = newPath()
    await writeStore(path, { hooks: [HOOK] })
    const store = await openHookStore(path, () => {}, OWNER)
    await store.restore()
    expect((await readStore(path)).owner).toEqual(OWNER)
  })

  it('has the newest webhooks however many writes overlap: the keeper adds one while a removed store is written again', async () => {
    const path = newPath()
    const store = await openHookStore(path, () => {}, OWNER)
    for (let n = 1; n <= 20; n++) {
      const more = [...store.hooks, { ...HOOK, destinationUrl: `${HOOK.destinationUrl}${n}` }]
      await Promise.all([store.restore(), store.replace(more), store.restore()])
      expect([store.hooks.length, (await readStore(path)).hooks.length]).toEqual([n, n])
    }
  })

  it('treats a webhook that was written by hand as active', async () => {
    const path = newPath()
    const { collection, destinationUrl, key } = HOOK
    writeFileSync(
      path,
      JSON.stringify({ version: 1, webhooks: [{ collection, destinationUrl, key }] }),
    )
    expect(await readStore(path)).toMatchObject({ hooks: [{ collection, state: 'live' }] })
  })

  it.each([
    ['{"version": 999, "webhooks": []}', 'has version 999'],
    ['{"version": 1', 'is damaged'],
    ['[]', 'is damaged'],
    ['null', 'is damaged'],
    ['{"version": 1, "webhooks": [{"collection": "people"}]}', 'is damaged'],
    [
      '{"version": 1, "webhooks": [{"collection": "people", "destinationUrl": "https://a.example/x"}]}',
      'is damaged',
    ],
    [JSON.stringify({ version: 1, webhooks: [HOOK, { ...HOOK, id: '43' }] }), 'is damaged'],
    [JSON.stringify({ version: 1, webhooks: [{ ...HOOK, key: '' }] }), 'is damaged'],
    [
      JSON.stringify({ version: 1, webhooks: [{ ...HOOK, state: 'retiring', key: '' }] }),
      'is damaged',
    ],
  ])('refuses %s in a sentence', async (text, sentence) => {
    const path = newPath()
    writeFileSync(path, text)
    await expect(readStore(path)).rejects.toThrow(sentence)
  })

  it('says that a place cannot be written', async () => {
    const path = join(newPath(), 'webhooks.json')
    await expect(writeStore(path, { hooks: [] })).rejects.toThrow(/cannot be written \(ENOENT\)/)
  })
})
