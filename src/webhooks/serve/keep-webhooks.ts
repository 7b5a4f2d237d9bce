import { stat } from 'node:fs/promises'
import { asConnectorError } from '../../ground/errors.ts'
import { sleep } from '../../http/clock.ts'
import type { Log } from '../../protocol/connector.ts'
import type { Keeper } from './keeper.ts'
import type { HookStore } from './store.ts'

/** The pause after a round that failed; doubled by each further one, up to the usual pause. */
const RETRY_MS = 60_000
/** So much of a pause is random, so that many receivers do not ask in step. */
const JITTER = 0.1
/** How often a store that somebody else writes is looked at. */
const FOLLOW_MS = 1000

export interface KeepSettings {
  readonly keeper: Keeper
  /** Whether deliveries can come before the first good round. */
  readonly hasLive: () => boolean
  readonly watchMs: number
  /** Called after each round, also after one that failed. */
  readonly onRound: () => void
  readonly log: Log
  readonly signal: AbortSignal
}

/**
 * Runs the keeper's rounds until the signal is aborted. Throws a config error that comes before the first
 * good round of a server without webhooks: whoever starts it with a wrong secret is there to mend it, and a
 * service that is down is no such error. With webhooks, and later, it is a warning, and deliveries are taken all
 * the same: the answer may be that of one bad moment.
 */
export async function keepWebhooks(settings: KeepSettings): Promise<void> {
  const { keeper, hasLive, watchMs, onRound, log, signal } = settings
  let wasGood = false
  while (!signal.aborted) {
    await keeper.round().then(
      () => {
        wasGood = true
        keeper.keeping.failures = 0
      },
      (error: Error) => {
        if (signal.aborted) return
        const isMisconfigured = asConnectorError(error).failure === 'config'
        if (isMisconfigured && !wasGood && !hasLive()) throw error
        const pause = pauseMs(keeper.keeping.failures++)
        log.warn(
          `The webhooks could not be looked after. ${error.message} The next try is in ${Math.ceil(pause / 1000)} seconds.`,
        )
      },
    )
    if (signal.aborted) return
    onRound()
    const { failures } = keeper.keeping
    const pause =
      failures === 0 ? watchMs * (1 + JITTER * (Math.random() - 0.5)) : pauseMs(failures - 1)
    await sleep(pause, signal).catch(() => {})
  }

  function pauseMs(before: number): number {
    return Math.min(watchMs, RETRY_MS * 2 ** before)
  }
}

export interface FollowSettings {
  readonly store: HookStore
  readonly path: string
  /** Called at once with all collections of the store, and later with those whose keys have changed. */
  readonly onChanged: (collections: readonly string[]) => void
  readonly log: Log
  readonly signal: AbortSignal
}

/** Takes over what others write to the store, until the signal is aborted. */
export async function followStore({
  store,
  path,
  onChanged,
  log,
  signal,
}: FollowSettings): Promise<void> {
  let seen = await fingerprint(path)
  warnIfEmpty()
  onChanged(store.hooks.map(({ collection }) => collection))
  while (!signal.aborted) {
    await sleep(FOLLOW_MS, signal).catch(() => {})
    const now = await fingerprint(path)
    if (now === seen) continue
    seen = now
    const before = new Set(store.hooks.map(({ key }) => key))
    try {
      await store.reload()
    } catch (error) {
      log.warn(`${(error as Error).message} The keys that were read before stay in use.`)
      continue
    }
    const changed = store.hooks.filter(({ key }) => !before.has(key))
    log.info(`The store was read again: ${changed.length} new keys.`)
    warnIfEmpty()
    onChanged(changed.map(({ collection }) => collection))
  }

  function warnIfEmpty(): void {
    if (store.hooks.length > 0) return
    log.warn(
      `The store ${path} holds no webhook: every delivery is answered 404 until somebody writes one there.`,
    )
  }
}

async function fingerprint(path: string): Promise<string> {
  const { mtimeMs, ino, size } = await stat(path).catch(() => ({ mtimeMs: 0, ino: 0, size: 0 }))
  return `${mtimeMs} ${ino} ${size}`
}
