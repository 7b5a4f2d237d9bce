import { expect } from 'vitest'
import { createKeeper } from '../keeper.ts'
import type { StoredHook } from '../store.ts'
import type { FakeWebhookService } from './fake-service.ts'

export const PUBLIC_URL = 'https://hooks.acme.example'
export const COLLECTIONS = ['clockings', 'people']
export const MINUTE = 60_000
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR

export const quiet = { info: () => {}, warn: () => {}, debug: () => {} }

/** A keeper's process: after a crash another one takes over its store. */
export function start(
  service: FakeWebhookService,
  { adopt = false, collections = COLLECTIONS, publicUrl = PUBLIC_URL } = {},
) {
  const store = service.openStore()
  const created: string[] = []
  const warnings: string[] = []
  const keeper = createKeeper({
    settings: { publicUrl, collections, adopt },
    store,
    connect: service.connect,
    onCreated(collection) {
      created.push(collection)
      service.creations.push({ collection, publicUrl, at: service.now })
    },
    log: { ...quiet, warn: (text) => warnings.push(text) },
    scopesOf: (collection) => ['connector-x-webhooks.write', `connector-x-${collection}.read`],
  })
  return { keeper, store, created, warnings }
}

export const inState = (hooks: readonly StoredHook[], state: StoredHook['state']) =>
  hooks.filter((hook) => hook.state === state)

/** Fails unless the service has one usable webhook of each collection, whose key is in the store. */
export function expectKept(
  service: FakeWebhookService,
  hooks: readonly StoredHook[],
  collections = COLLECTIONS,
): void {
  const ours = service.records.filter(({ destinationUrl }) => destinationUrl.startsWith(PUBLIC_URL))
  expect(ours.map(({ collectionName }) => collectionName).sort()).toEqual([...collections])
  for (const { status, validUntil, id, key, destinationUrl } of ours) {
    expect(status).toBe('Enabled')
    expect(validUntil?.getTime()).toBeGreaterThan(service.now)
    expect(hooks).toContainEqual(
      expect.objectContaining({ id, key, destinationUrl, state: 'live' }),
    )
  }
}
