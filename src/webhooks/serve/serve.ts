import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { streamOf } from '../../client/service-client.ts'
import { asConnectorError, ConnectorError } from '../../ground/errors.ts'
import { warningOf } from '../../ground/message-ids.ts'
import { warnOfReaders } from '../../ground/private-file.ts'
import { REAL_TIME, sleep } from '../../http/clock.ts'
import type { Log } from '../../protocol/connector.ts'
import { createReceiver, type Receiver } from '../receive/receiver.ts'
import { createKeeper, type KeeperTools } from './keeper.ts'
import { count, createActivity, type Facts, healthPage, metricsPage } from './monitoring.ts'
import { openHookStore, type StoreOwner } from './store.ts'
import {
  createSyncScheduler,
  type Reason,
  type ScheduleTimes,
  type SyncResult,
  type Trigger,
  type TriggerBatch,
  waitingMs,
} from './sync-scheduler.ts'

export interface ServeSettings {
  /** Without a slash at the end. */
  readonly publicUrl: string
  readonly host: string
  /** 0: any free port. */
  readonly port: number
  readonly storePath: string
  readonly owner: StoreOwner
  readonly collections: readonly string[]
  /** See KeeperSettings. */
  readonly adopt: boolean
  /** Whether to end after the first sync, successful or failed. */
  readonly once: boolean
  readonly times: ScheduleTimes
  /** The time between two rounds of the keeper. */
  readonly watchMs: number
  readonly trigger: Trigger
}

export interface ServeTools extends Pick<KeeperTools, 'connect' | 'scopesOf'> {
  /** Called with keys and nonces, which must not appear in any text. */
  readonly hide: (secret: string) => void
  readonly log: Log
  /** Ends the server: open requests are answered, and a running command is ended. */
  readonly signal: AbortSignal
}

/** A server that listens but has not created anything yet. */
export interface WebhookServer {
  /**
   * Receives deliveries, maintains the webhooks and triggers syncs, until the signal is aborted. Returns
   * whether the last sync was successful. Throws a config error if no round of the keeper has succeeded
   * because the configuration is wrong.
   */
  run(): Promise<boolean>
}

/**
 * Throws a config error if the store is not usable, the address is not free, or the trigger cannot start
 * syncs.
 */
export async function startServer(
  settings: ServeSettings,
  tools: ServeTools,
): Promise<WebhookServer> {
  const { times, trigger, collections, publicUrl, adopt, storePath, watchMs } = settings
  const { log } = tools
  await trigger.check?.(tools.signal)
  const store = await openHookStore(storePath, tools.hide, settings.owner)
  await warnOfReaders(storePath, log)
  const ended = new AbortController()
  const signal = AbortSignal.any([tools.signal, ended.signal])
  const activity = createActivity()
  const scheduler = createSyncScheduler({ times, time: REAL_TIME, trigger: sync })
  let hasStarted = false
  const keeper = createKeeper({
    ...tools,
    store,
    settings: { publicUrl, adopt, collections },
    onCreated: (collection) => hasStarted && notify([collection], 'renewal'),
  })
  const page = (render: (facts: Facts) => ReturnType<typeof healthPage>) => () =>
    render({
      keeping: keeper.keeping,
      schedule: scheduler.state,
      waitingMs: waitingMs(scheduler.state, REAL_TIME.now()),
      // A change may have to wait for a pause, and for a sync of everything.
      patienceMs: HOUR_MS + times.minIntervalMs + times.maxWaitMs,
      activity,
      deliveries: receiver.counts,
    })
  const receiver = createReceiver({
    hooks: store,
    onDelivery: (collection) => notify([collection], 'delivery'),
    log,
    prefix: new URL(publicUrl).pathname.replace(/\/$/, ''),
    pages: new Map([
      ['/healthz', page(healthPage)],
      ['/metrics', page(metricsPage)],
    ]),
  })
  const address = await listen(receiver, settings)
  try {
    // If the store could not be written, the key of a new webhook would be lost.
    await store.restore()
  } catch (error) {
    await receiver.close()
    throw error
  }
  log.info(`Listens at ${address}`)
  return { run }

  async function run(): Promise<boolean> {
    const running = [
      aborted(signal).then(() => receiver.close()),
      aborted(signal).then(() => trigger.stopped?.()),
      scheduler.run(signal),
      keepWebhooks(),
      keepStore(),
    ].map((part) => part.finally(() => ended.abort()))
    await Promise.allSettled(running)
    await Promise.all(running)
    return scheduler.state.failures === 0 && scheduler.state.postponed === undefined
  }

  /**
   * Runs the keeper's rounds until the signal is aborted. Throws a config error that occurs before the first successful
   * round of a server without webhooks: somebody who starts it with a wrong secret is there to correct it, and a service
   * that is down does not cause a config error. With webhooks, or later, it is a warning, and deliveries are still
   * accepted: the error may be temporary.
   */
  async function keepWebhooks(): Promise<void> {
    let wasGood = false
    while (!signal.aborted) {
      const failure = await keeper.round().catch((error: Error) => error)
      if (signal.aborted) return
      wasGood ||= failure === undefined
      const failures = failure === undefined ? 0 : keeper.keeping.failures + 1
      keeper.keeping.failures = failures
      let pause = watchMs * (1 + JITTER * (Math.random() - 0.5))
      if (failure !== undefined) {
        const hasLive = store.hooks.some(({ state }) => state === 'live')
        const isMisconfigured = asConnectorError(failure).failure === 'config'
        if (isMisconfigured && !wasGood && !hasLive) throw failure
        pause = Math.min(watchMs, RETRY_MS * 2 ** (failures - 1))
        log.warn(
          warningOf(
            'webhooks-not-checked',
            `The webhooks could not be checked. ${failure.message} The next attempt is in ${Math.ceil(pause / 1000)} seconds.`,
          ),
        )
      }
      // After a failed round, too.
      start()
      await sleep(pause, signal).catch(() => {})
    }
  }

  /**
   * Writes the store again if somebody has removed it, until the signal is aborted and once more: the keys cannot be read
   * again from the service.
   */
  async function keepStore(): Promise<void> {
    let failure = ''
    for (let isOver = false; !isOver; ) {
      await sleep(LOOK_MS, signal).catch(() => {})
      isOver = signal.aborted
      if (existsSync(storePath)) continue
      await store.restore().then(
        () => {
          failure = ''
          log.warn(
            warningOf(
              'store-rewritten',
              `The store ${storePath} was deleted. It is written again, with all keys.`,
            ),
          )
        },
        ({ message }: Error) => {
          // Once, not every second until somebody repairs it.
          if (message !== failure)
            log.warn({
              id: 'store-not-usable',
              message: `${message} Its keys are lost when this program ends.`,
            })
          failure = message
        },
      )
    }
  }

  /**
   * Requests a sync of everything that is subscribed, once: nobody knows what happened before the start.
   */
  function start(): void {
    const made = store.hooks.filter(({ state }) => state !== 'creating')
    const subscribed = [...new Set(made.map(({ collection }) => collection))]
    if (hasStarted || subscribed.length === 0) return
    hasStarted = true
    notify(subscribed, 'start')
  }

  function notify(names: readonly string[], reason: Reason): void {
    count(activity.notifications, reason)
    if (reason === 'delivery') for (const name of names) activity.lastDelivery.set(name, new Date())
    scheduler.notify(names, reason)
  }

  async function sync(batch: TriggerBatch, stop: AbortSignal): Promise<SyncResult> {
    const beganAt = new Date()
    const streams = batch.collections.map(streamOf).sort()
    const { reason, deliveries } = batch
    log.info(`Sync begins: reason=${reason} deliveries=${deliveries} streams=${streams.join(',')}`)
    const { result, detail } = await trigger({ streams, reason }, stop)
    count(activity.triggers, result)
    if (result === 'done') activity.lastSync = beganAt
    const seconds = ((Date.now() - beganAt.getTime()) / 1000).toFixed(1)
    const text = `Sync ${result}${NEXT[result]}: ${detail}, seconds=${seconds}`
    if (result === 'failed' && !stop.aborted) log.warn(warningOf('sync-not-triggered', text))
    else log.info(text)
    if (settings.once && result !== 'busy') ended.abort()
    return result
  }
}

/** What happens after a sync with this result. */
const NEXT: Readonly<Record<SyncResult, string>> = {
  done: '',
  failed: ', and is tried again',
  busy: ', and is tried again',
  cancelled: ', and its streams wait for the next delivery',
}

/** Returns the address as a URL. */
async function listen(receiver: Receiver, { host, port }: ServeSettings): Promise<string> {
  try {
    const address = await receiver.listen(port, host)
    const name = address.family === 'IPv6' ? `[${address.address}]` : address.address
    return `http://${name}:${address.port}`
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const reason = code === 'EADDRINUSE' ? 'another program listens there' : (code ?? message)
    throw new ConnectorError(
      'config',
      'cannot-listen',
      `Cannot listen at ${host}:${port}: ${reason}. Choose another address with --listen.`,
    )
  }
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort')
}

/** The pause after a failed round; it doubles with each further one, up to the usual pause. */
const RETRY_MS = 60_000
/** This part of a pause is random, so that many receivers do not send requests at the same time. */
const JITTER = 0.1
/** How often to check that the store is still there. */
const LOOK_MS = 1000
const HOUR_MS = 3_600_000
