import type { Hook, Hooks } from '../hooks.ts'
import { nonceOf, readStore, type StoredHook, writeStore } from './store.ts'

/** The webhooks in memory as they are in the file, for the keeper and for the receiver. */
export interface HookStore extends Hooks {
  readonly hooks: readonly StoredHook[]
  /** Writes the file, then takes effect. Throws what `writeStore` throws, and has changed nothing then. */
  replace(hooks: readonly StoredHook[]): Promise<void>
  /** Takes over what somebody else has written to the file. Throws what `readStore` throws. */
  reload(): Promise<void>
}

/** Opens the file, which need not exist. */
export async function openHookStore(
  path: string,
  /** Takes the keys and nonces, which must not appear in any text. */
  hide: (secret: string) => void,
): Promise<HookStore> {
  let hooks: readonly StoredHook[] = []
  let watchers = new Set<() => void>()
  take(await readStore(path))
  return {
    get hooks() {
      return hooks
    },
    async replace(next) {
      await writeStore(path, next)
      take(next)
    },
    reload: async () => take(await readStore(path)),
    byNonce: (collection, nonce) => {
      const hook = find(nonce)
      return hook?.collection === collection ? hook : undefined
    },
    settled,
  }

  function take(next: readonly StoredHook[]): void {
    hooks = next
    for (const hook of next) {
      hide(nonceOf(hook))
      if (hook.key !== undefined) hide(hook.key)
    }
    const woken = watchers
    watchers = new Set()
    for (const wake of woken) wake()
  }

  function find(nonce: string): Hook | undefined {
    const stored = hooks.find((hook) => nonceOf(hook) === nonce)
    if (stored === undefined) return undefined
    const { collection, state, key } = stored
    return { collection, state, keys: key === undefined ? [] : [key] }
  }

  async function settled(nonce: string, ms: number): Promise<Hook | undefined> {
    const late = performance.now() + ms
    for (;;) {
      const hook = find(nonce)
      if (hook?.state !== 'creating') return hook
      const left = late - performance.now()
      if (left <= 0) return undefined
      await changed(left)
    }
  }

  function changed(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        clearTimeout(timer)
        watchers.delete(wake)
        resolve()
      }
      const timer = setTimeout(wake, ms)
      watchers.add(wake)
    })
  }
}
