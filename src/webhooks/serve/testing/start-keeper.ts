import { expect } from 'vitest'
import { ClientError } from '../../../client/client-error.ts'
import type { CreatedWebhook, Webhook } from '../../../client/service-client.ts'
import { withId } from '../../../ground/message-ids.ts'
import { statusIs } from '../../../http/status.ts'
import { createKeeper, type WebhookService } from '../keeper.ts'
import type { HookStore, StoredHook } from '../store.ts'

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
    log: { ...quiet, warn: (message) => warnings.push(withId(message)) },
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

/** The process dies at this point. */
export class Crash extends Error {}

const lost = (mayHaveHappened: boolean) =>
  new ClientError('transient', 'x-test', 'The connection broke.', { mayHaveHappened })

/** A failure at a step of the keeper: of a request to the service, or of a change of the store. */
export type Mishap = 'crash-before' | 'crash-after' | 'lost-before' | 'lost-after' | undefined

/** A webhook with the data that only the service has. */
type Record = { -readonly [K in keyof CreatedWebhook]: CreatedWebhook[K] }

/** A service whose webhooks are created, expire and are disabled by the test. */
export interface FakeWebhookService {
  readonly records: Record[]
  /** When a keeper got a new webhook, as the test notes it. */
  readonly creations: {
    readonly collection: string
    readonly publicUrl: string
    readonly at: number
  }[]
  now: number
  validityMs: number
  /** The status of new webhooks. */
  status: string
  readonly refusing: Set<string>
  /** Refuses a webhook of a collection that has one, whatever its status. */
  isOnePerCollection: boolean
  /** The status with which a creation is answered although it was done. */
  answersInstead: number | undefined
  /** The number of requested creations. */
  asked: number
  /** The status of deleted webhooks in the list; undefined removes them from it. */
  deletedStatus: string | undefined
  /** The ids of the DELETEs that were answered. */
  readonly deletions: string[]
  /** Deleted webhooks that are listed. */
  readonly gone: Record[]
  /** The keeper's steps use them one by one. */
  mishaps: Mishap[]
  /** Called before a webhook is deleted. */
  onRemove: (record: Webhook) => void
  connect(): WebhookService
  /** A store that keeps what was last written before a crash. */
  openStore(): Pick<HookStore, 'hooks' | 'replace'>
}

export function createFakeService(): FakeWebhookService {
  let written: readonly StoredHook[] = []
  let ids = 0
  /** After a crash, a process cannot continue what it has started, even if it catches the error. */
  let isCrashed = false
  const service: FakeWebhookService = {
    records: [],
    creations: [],
    now: Date.UTC(2026, 6, 15),
    validityMs: 30 * 86_400_000,
    status: 'Enabled',
    refusing: new Set(),
    isOnePerCollection: false,
    answersInstead: undefined,
    asked: 0,
    deletedStatus: undefined,
    deletions: [],
    gone: [],
    mishaps: [],
    onRemove: () => {},
    connect,
    openStore() {
      isCrashed = false
      let hooks = written
      return {
        get hooks() {
          return hooks
        },
        replace: (next) =>
          step(false, () => {
            written = next
            hooks = next
          }),
      }
    },
  }
  return service

  function connect(): WebhookService {
    return {
      now: () => new Date(service.now),
      close: async () => {},
      webhooks: {
        create: ({ collectionName, destinationUrl }) =>
          step(true, () => create(collectionName, destinationUrl)),
        list,
        get: async (id) => service.records.find((record) => record.id === id),
        remove: (id) => step(true, () => remove(id)),
      },
    }
  }

  async function* list(): AsyncGenerator<Webhook> {
    for (const { key: _key, ...record } of await step(true, () => [
      ...service.records,
      ...service.gone,
    ]))
      yield record
  }

  /** Executes the request, unless a failure happens to it. */
  async function step<T>(isRequest: boolean, act: () => T): Promise<T> {
    const mishap = isCrashed ? 'crash-before' : service.mishaps.shift()
    isCrashed = mishap === 'crash-before' || mishap === 'crash-after'
    if (mishap === 'crash-before') throw new Crash()
    if (mishap === 'lost-before' && isRequest) throw lost(false)
    const result = act()
    if (mishap === 'crash-after') throw new Crash()
    if (mishap === 'lost-after' && isRequest) throw lost(true)
    return result
  }

  function create(collectionName: string, destinationUrl: string): CreatedWebhook {
    service.asked++
    if (service.refusing.has(collectionName)) {
      throw new ClientError('config', 'x-test', 'The service refuses it.', { status: 403 })
    }
    const isTaken = service.records.some((record) => record.collectionName === collectionName)
    if (service.isOnePerCollection && isTaken) {
      throw new ClientError('transient', 'x-test', 'There is one already.', { status: 409 })
    }
    const id = String(++ids)
    const record: Record = {
      id,
      collectionName,
      destinationUrl,
      status: service.status,
      validUntil: new Date(service.now + service.validityMs),
      externalReferences: undefined,
      key: `key ${id}`,
    }
    service.records.push(record)
    const { answersInstead: status } = service
    if (status !== undefined) {
      const mayHaveHappened = !statusIs(status, 'nothing done')
      throw new ClientError('system', 'x-test', 'No.', { status, mayHaveHappened })
    }
    return { ...record }
  }

  function remove(id: string): 'deleted' | 'absent' {
    service.deletions.push(id)
    const at = service.records.findIndex((record) => record.id === id)
    const [record] = at < 0 ? [] : service.records.splice(at, 1)
    if (record === undefined) return 'absent'
    service.onRemove(record)
    const { deletedStatus: status } = service
    if (status !== undefined) service.gone.push({ ...record, status })
    return 'deleted'
  }
}
