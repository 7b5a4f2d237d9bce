import { rmSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import { describe, it } from 'vitest'
import { type Emulator, startEmulator } from '../../emulator/emulator.ts'
import { createServiceClient } from '../../src/client/create-service-client.ts'
import { streamOf } from '../../src/client/service-client.ts'
import { webhookScopes } from '../../src/client/webhooks.ts'
import { parseConfig } from '../../src/config/config.ts'
import { createMask } from '../../src/ground/mask.ts'
import { shortRetryPolicy } from '../../src/http/testing/virtual-time.ts'
import type { Stream } from '../../src/streams/collections.ts'
import { streams as catalogue } from '../../src/streams/streams.ts'
import { startServer } from '../../src/webhooks/serve/serve.ts'
import { openHookStore, readStore } from '../../src/webhooks/serve/store.ts'
import type { Trigger, TriggerOutcome } from '../../src/webhooks/serve/sync-scheduler.ts'
import { temporaryFolder } from '../testing/files.ts'
import { warehouseDifferences } from './comparison.ts'
import { DAY_MS, runSettings } from './property.ts'
import { runSync } from './run-sync.ts'
import { createTenant, type Tenant } from './tenant.ts'
import { createPlatform, type Platform } from './warehouses.ts'
import { type WebhookHistory, type WebhookStep, webhookHistories } from './webhook-history.ts'

const PUBLIC_URLS = ['https://hooks.acme.example', 'https://new.acme.example/protime'] as const
const TIMES = { debounceMs: 3, maxWaitMs: 30, minIntervalMs: 5, retryMs: 5 }
const WATCH_MS = 15
/** Longer than any wait of a history, which ends when what it waits for has happened. */
const PATIENCE_MS = 30_000

/**
 * Runs a history against a receiver in this process, and throws unless both warehouses equal the
 * service after the sync of its last delivery.
 */
async function runWebhookHistory(history: WebhookHistory): Promise<void> {
  const emulator = await startEmulator({
    ...history.options,
    clients: [{ id: 'connector', secret: 'emulator-secret', scopes: 'all' }],
  })
  const folder = temporaryFolder()
  const streams = history.collections.map((name) => catalogue.get(streamOf(name)) as Stream)
  const running: Running = {
    history,
    emulator,
    streams,
    tenant: createTenant(emulator, streams),
    platform: createPlatform(),
    storePath: `${folder.path}/webhooks.json`,
    killAfter: [],
    cancellations: 0,
    syncing: Promise.resolve(DONE),
    receiver: undefined,
    publicUrl: PUBLIC_URLS[0],
  }
  try {
    for (const change of history.seeded) running.tenant.happen({ do: 'change', change })
    await startReceiver(running)
    for (const step of history.steps) await take(step, running)
    await lastDelivery(running)
    const found = warehouseDifferences({
      emulator,
      platform: running.platform,
      streams,
      references: undefined,
      rulesOf: () => undefined,
      lastDay: '9999-12-31',
      isHistoryFresh: true,
      columns: new Map(),
      levels: [1, 2],
      silent: new Set(),
    })
    if (found.length > 0) throw new Error(found.join('\n'))
  } finally {
    await running.receiver?.stop()
    await running.syncing
    await emulator.close()
    folder.remove()
  }
}

const DONE: TriggerOutcome = { result: 'done', detail: '' }

interface Receiver {
  readonly url: string
  stop(): Promise<void>
}

interface Running {
  readonly history: WebhookHistory
  readonly emulator: Emulator
  readonly streams: readonly Stream[]
  readonly tenant: Tenant
  readonly platform: Platform
  readonly storePath: string
  /** Of the syncs to come, the lines after which they die. */
  readonly killAfter: number[]
  /** How many syncs of the receiver are still to be cancelled. */
  cancellations: number
  /** The lock that all syncs take. */
  syncing: Promise<TriggerOutcome>
  receiver: Receiver | undefined
  publicUrl: string
}

async function take(step: WebhookStep, running: Running): Promise<void> {
  const { emulator, tenant } = running
  if (step.do === 'elapse') await emulator.elapse({ hours: step.hours })
  else if (step.do === 'deliveries') emulator.deliveryFault(step.fault, { share: step.share })
  else if (step.do === 'deliver-well') emulator.clearFaults()
  else if (step.do === 'end-webhook') await endWebhook(step, running)
  else if (step.do === 'cancel-sync') running.cancellations++
  else if (step.do === 'repeat-creation')
    emulator.fault('/webhooks', 'repeat', { method: 'POST', times: 1 })
  else if (step.do === 'deny-creation')
    emulator.fail('/webhooks', step.status, { method: 'POST', times: 1, effectMs: 0 })
  else if (step.do === 'refuse-list') refuseList(step.status, running)
  else if (step.do === 'garble-list')
    emulator.fail('/webhooks', 200, { method: 'GET', times: 1, body: step.body })
  else if (step.do === 'remove-store') rmSync(running.storePath, { force: true })
  else if (step.do === 'mistake-tenant') await mistakeTenant(running)
  else if (step.do === 'kill-sync') running.killAfter.push(step.afterLines)
  else if (step.do === 'scheduled-sync') void sync(running)
  else if (step.do === 'wait') await idle(running)
  else if (step.do === 'kill-receiver') {
    await running.receiver?.stop()
    const [first, second] = PUBLIC_URLS
    if (step.isMoved) running.publicUrl = running.publicUrl === first ? second : first
    for (const event of step.meanwhile) tenant.happen(event)
    await startReceiver(running)
  } else tenant.happen(step)
}

/** The store is refused to another tenant, unless it is gone for a moment. */
async function mistakeTenant({ storePath, emulator }: Running): Promise<void> {
  const other = { tenant: 'other', baseUrl: emulator.url }
  const opened = openHookStore(storePath, () => {}, other)
  if ((await opened.then(({ hooks }) => hooks.length).catch(() => 0)) > 0)
    throw new Error('the store was opened for another tenant')
}

/** A server that has no webhook yet would end, as it should. */
function refuseList(status: number, { emulator, history }: Running): void {
  if (emulator.webhooks().length < history.collections.length) return
  emulator.fail('/webhooks', status, { method: 'GET', times: 1 })
}

/** A delivery for which nothing goes wrong any more; the sync that follows it is awaited. */
async function lastDelivery(running: Running): Promise<void> {
  const { emulator, history, tenant } = running
  emulator.clearFaults()
  running.killAfter.splice(0)
  running.cancellations = 0
  await emulator.elapse({ hours: 2 })
  // A delivery that was refused may hold back newer ones until its next attempt.
  const isHeld = () => emulator.deliveries().some(({ status }) => status === 'waiting')
  for (let hours = 0; hours < 73 && isHeld(); hours++) await emulator.elapse({ hours: 1 })
  await until('each collection has one webhook that is live and valid', async () => {
    const present = emulator.webhooks().filter((one) => one['isDeleted'] !== true)
    // One whose key nobody has is about to be deleted, with its deliveries.
    const { hooks } = await readStore(running.storePath)
    const isLive = (id: unknown) => hooks.some((hook) => hook.id === id && hook.state === 'live')
    return history.collections.every((collection) => {
      const [one, ...others] = present.filter(({ collectionName }) => collectionName === collection)
      const isUsable = one?.['status'] === 'Enabled' && !isPast(String(one['validUntil']), emulator)
      return isUsable && isLive(one['id']) && others.length === 0
    })
  })
  await idle(running)
  const before = emulator.deliveries().length
  tenant.happen({
    do: 'change',
    change: { kind: 'insert', stream: 0, pick: 0, day: -2, size: 'small' },
  })
  await until('the last event is delivered', () => {
    const last = emulator.deliveries().slice(before)
    return last.length > 0 && last.every(({ status }) => status === 'delivered')
  })
  await idle(running)
}

async function endWebhook(
  { stream, how }: Extract<WebhookStep, { do: 'end-webhook' }>,
  { emulator, history }: Running,
): Promise<void> {
  const { collections } = history
  const collection = collections[stream % collections.length] as string
  if (how === 'disable') emulator.disableWebhooks({ collection })
  else if (how === 'expire') emulator.expireWebhooks({ collection })
  else {
    const client = connect(emulator)
    const present = emulator
      .webhooks()
      .filter(({ collectionName }) => collectionName === collection)
    for (const { id } of present) await client.webhooks.remove(String(id))
    await client.close()
  }
}

function connect(emulator: Emulator, signal = new AbortController().signal) {
  return createServiceClient(parseConfig(emulator.config()), {
    scopes: ['webhooks.read', ...webhookScopes(['people'])],
    mask: createMask(),
    signal,
    retryPolicy: shortRetryPolicy(),
  })
}

async function startReceiver(running: Running): Promise<void> {
  const { emulator, history, storePath } = running
  const stop = new AbortController()
  let url = ''
  const server = await startServer(
    {
      publicUrl: running.publicUrl,
      host: '127.0.0.1',
      port: 0,
      storePath,
      collections: history.collections,
      adopt: false,
      owner: { tenant: 'acme', baseUrl: emulator.url },
      once: false,
      times: TIMES,
      watchMs: WATCH_MS,
      trigger: triggerOf(running, stop.signal),
    },
    {
      connect: () => connect(emulator, stop.signal),
      scopesOf: () => [],
      hide: () => {},
      log: {
        info: (text) => {
          url ||= /http\S+/.exec(text)?.[0] ?? ''
        },
        warn: () => {},
        debug: () => {},
      },
      signal: stop.signal,
    },
  )
  emulator.options.deliverTo = url
  const ended = server.run()
  running.receiver = {
    url,
    async stop() {
      stop.abort()
      await ended
    },
  }
}

/** A sync that goes on when the receiver is killed, as a command with a lock does. */
function triggerOf(running: Running, killed: AbortSignal): Trigger {
  const dead = new Promise<TriggerOutcome>((resolve) => {
    killed.addEventListener('abort', () => resolve({ result: 'failed', detail: '' }))
  })
  return () => {
    if (running.cancellations === 0) return Promise.race([sync(running), dead])
    running.cancellations--
    return Promise.resolve({ result: 'cancelled', detail: '' })
  }
}

function sync(running: Running): Promise<TriggerOutcome> {
  running.syncing = running.syncing.then(() => syncOnce(running))
  return running.syncing
}

async function syncOnce({
  emulator,
  streams,
  platform,
  killAfter,
}: Running): Promise<TriggerOutcome> {
  const outcome = await runSync('in-process', {
    config: { ...emulator.config(), start_date: undefined, concurrency: 1 },
    catalog: streams.map(({ stream }) => ({ name: stream, sync_mode: 'incremental' })),
    state: platform.state,
    killAfter: killAfter.shift() ?? 0,
  })
  platform.load(outcome, 'everything')
  return outcome.exitCode === 0 ? DONE : { result: 'failed', detail: '' }
}

/** Waits until every notification is synced. */
async function idle(running: Running): Promise<void> {
  const { emulator } = running
  await until('every notification is synced', async () => {
    const isUnderWay = emulator
      .deliveries()
      .some(({ status, nextAttempt }) => status === 'waiting' && isPast(nextAttempt, emulator))
    if (isUnderWay) return false
    const page = await (await fetch(`${running.receiver?.url}/healthz`)).json()
    const {
      waiting,
      running: syncing,
      failures,
    } = page as {
      readonly waiting: unknown[]
      readonly running: unknown[]
      readonly failures: number
    }
    return waiting.length + syncing.length + failures === 0
  })
  await running.syncing
}

function isPast(time: string | undefined, emulator: Emulator): boolean {
  return time === undefined || Date.parse(time) <= emulator.now().getTime()
}

async function until(what: string, condition: () => boolean | Promise<boolean>): Promise<void> {
  const late = performance.now() + PATIENCE_MS
  while (!(await condition())) {
    if (performance.now() > late) throw new Error(`it does not happen: ${what}`)
    await sleep(3)
  }
}

describe('in-process', () => {
  it('any history of deliveries, renewals, kills and syncs ends with a warehouse that equals the service', {
    timeout: DAY_MS,
  }, async () => {
    const { runs, path } = runSettings(4)
    await fc.assert(fc.asyncProperty(webhookHistories, runWebhookHistory), {
      numRuns: runs,
      ...(path === undefined ? {} : { path }),
    })
  })
})
