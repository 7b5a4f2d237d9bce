import { ClientError } from '../../../client/client-error.ts'
import type { CreatedWebhook, Webhook } from '../../../client/service-client.ts'
import type { WebhookService } from '../keeper.ts'
import type { HookStore, StoredHook } from '../store.ts'

/** The process dies here. */
export class Crash extends Error {}

const lost = (mayHaveHappened: boolean) =>
  new ClientError('transient', 'The connection broke.', { mayHaveHappened })

/** What goes wrong at a step of the keeper: a request to the service, or a change of the store. */
export type Mishap = 'crash-before' | 'crash-after' | 'lost-before' | 'lost-after' | undefined

/** A webhook as the service knows it, with what only the service knows. */
type Record = { -readonly [K in keyof CreatedWebhook]: CreatedWebhook[K] }

/** A service whose webhooks live, expire and are disabled in the test's hands. */
export interface FakeService {
  readonly records: Record[]
  /** When a keeper got a new webhook, as the test notes it. */
  readonly creations: { readonly collection: string; readonly at: number }[]
  now: number
  validityMs: number
  /** The status of new webhooks. */
  status: string
  readonly refusing: Set<string>
  /** Taken one by one by the keeper's steps. */
  mishaps: Mishap[]
  /** Called before a webhook is deleted. */
  onRemove: (record: Webhook) => void
  connect(): WebhookService
  /** A store of which a crash leaves what was written last. */
  openStore(): Pick<HookStore, 'hooks' | 'replace'>
}

export function createFakeService(): FakeService {
  let written: readonly StoredHook[] = []
  let ids = 0
  /** What a process has begun cannot go on after its crash, whatever catches the error. */
  let isCrashed = false
  const service: FakeService = {
    records: [],
    creations: [],
    now: Date.UTC(2026, 6, 15),
    validityMs: 30 * 86_400_000,
    status: 'Enabled',
    refusing: new Set(),
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
    for (const { key: _key, ...record } of await step(true, () => [...service.records]))
      yield record
  }

  /** Does what is asked, unless something happens to it. */
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
    if (service.refusing.has(collectionName)) {
      throw new ClientError('config', 'The service refuses it.', { status: 403 })
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
    return { ...record }
  }

  function remove(id: string): 'deleted' | 'absent' {
    const at = service.records.findIndex((record) => record.id === id)
    const [record] = at < 0 ? [] : service.records.splice(at, 1)
    if (record === undefined) return 'absent'
    service.onRemove(record)
    return 'deleted'
  }
}
