import { describe, expect, it } from 'vitest'
import { ClientError } from '../../client/client-error.ts'
import { unsubscribe } from './keeper.ts'
import {
  createFakeService,
  type FakeWebhookService,
  PUBLIC_URL,
  quiet,
  start,
} from './testing/start-keeper.ts'

const tools = ({ connect }: Pick<FakeWebhookService, 'connect'>) => ({
  ...{ connect, log: quiet, signal: new AbortController().signal },
})

describe('the keeper', () => {
  it('deletes its own, even without a key, and nothing else when it unsubscribes', async () => {
    const service = createFakeService()
    const { keeper, store } = start(service)
    await keeper.round()
    const [one] = service.records
    if (one !== undefined)
      service.records.push(
        { ...one, id: 'twin' },
        { ...one, id: 'other', destinationUrl: 'https://a.example/x' },
      )
    await unsubscribe(store, tools(service))
    expect(store.hooks).toEqual([])
    expect(service.records.map(({ id }) => id)).toEqual(['other'])
  })

  it.each([
    ['is empty', () => [] as never[]],
    [
      'cannot be read',
      (): never => {
        throw new ClientError('system', 'response-not-understood', 'not readable')
      },
    ],
  ])('deletes what the store names if the list %s when it unsubscribes', async (_, list) => {
    const service = createFakeService()
    const { keeper, store } = start(service)
    await keeper.round()
    const client = service.connect()
    const webhooks = {
      ...client.webhooks,
      list: async function* () {
        yield* list()
      },
    }
    const connect = () => ({ ...client, webhooks })
    await unsubscribe(store, tools({ connect })).catch(() => {})
    expect([store.hooks, service.records]).toEqual([[], []])
  })

  it('keeps everything in the store if not even the list is found when it unsubscribes', async () => {
    const service = createFakeService()
    const { keeper, store } = start(service)
    await keeper.round()
    const hooks = [...store.hooks]
    const lost = (): never[] => {
      throw new ClientError('config', 'not-offered', 'Not found.', { status: 404 })
    }
    const client = service.connect()
    const webhooks = {
      ...client.webhooks,
      list: async function* () {
        yield* lost()
      },
      remove: async () => 'absent' as const,
    }
    const unsubscribed = unsubscribe(store, tools({ connect: () => ({ ...client, webhooks }) }))
    await expect(unsubscribed).rejects.toThrow('Not found.')
    expect(store.hooks).toEqual(hooks)
  })

  it('waits for a webhook whose request was lost and takes effect late when it unsubscribes', async () => {
    const service = createFakeService()
    const { store } = start(service)
    const destinationUrl = `${PUBLIC_URL}/hooks/people/${'0'.repeat(32)}`
    await store.replace([{ collection: 'people', destinationUrl, state: 'creating' }])
    const request = { collectionName: 'people', destinationUrl }
    const waits: number[] = []
    const sleep = async (ms: number) => {
      if (waits.push(ms) === 3) await service.connect().webhooks.create(request)
    }
    await unsubscribe(store, { ...tools(service), time: { sleep } })
    expect([store.hooks, service.records, service.deletions.length]).toEqual([[], [], 1])
    await store.replace([{ collection: 'people', destinationUrl, state: 'creating' }])
    await unsubscribe(store, { ...tools(service), time: { sleep } })
    expect([store.hooks, waits.slice(3).reduce((sum, ms) => sum + ms)]).toEqual([[], 10_000])
  })

  it('keeps what could not be deleted in the store when it unsubscribes, and deletes the rest', async () => {
    const service = createFakeService()
    const { keeper, store } = start(service)
    await keeper.round()
    const client = service.connect()
    const [first] = store.hooks
    const webhooks = {
      ...client.webhooks,
      remove: (id: string) =>
        id === first?.id
          ? Promise.reject(new ClientError('transient', 'service-fails', 'The service failed.'))
          : client.webhooks.remove(id),
    }
    const unsubscribed = unsubscribe(store, tools({ connect: () => ({ ...client, webhooks }) }))
    await expect(unsubscribed).rejects.toThrow('The service failed.')
    expect(store.hooks).toEqual([first])
    expect(service.records.map(({ id }) => id)).toEqual([first?.id])
  })
})
