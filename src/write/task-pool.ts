/** Starts tasks in the order in which they were given, a limited number at a time. */
export interface TaskPool {
  /**
   * Runs a task for each item and waits for all. After a failure no further task is started; throws the
   * error.
   */
  each<T>(items: readonly T[], task: (item: T) => Promise<void>): Promise<void>
}

/**
 * Creates a pool that runs `count` tasks at a time. After `signal` is aborted, no task is started.
 */
export function createTaskPool(count: number, signal: AbortSignal): TaskPool {
  const waiting: (() => void)[] = []
  let free = count
  let failure: { readonly error: unknown } | undefined
  return { each }

  async function each<T>(items: readonly T[], task: (item: T) => Promise<void>): Promise<void> {
    await Promise.all(items.map((item) => run(() => task(item))))
    if (failure !== undefined) throw failure.error
  }

  async function run(task: () => Promise<void>): Promise<void> {
    if (free > 0) free--
    else await new Promise<void>((resolve) => waiting.push(resolve))
    try {
      signal.throwIfAborted()
      if (failure === undefined) await task()
    } catch (error) {
      failure ??= { error }
    } finally {
      const next = waiting.shift()
      if (next === undefined) free++
      else next()
    }
  }
}

/** Groups items by a key; groups and their items keep their order. */
export function groupBy<T>(items: readonly T[], keyOf: (item: T) => string): T[][] {
  const groups = new Map<string, T[]>()
  for (const item of items) {
    const key = keyOf(item)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [item])
    else group.push(item)
  }
  return [...groups.values()]
}
