import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createVirtualTime } from '../../http/testing/virtual-time.ts'
import {
  begin,
  createSyncScheduler,
  dueAt,
  end,
  IDLE,
  notified,
  type Schedule,
  type ScheduleTimes,
  type SyncResult,
  type SyncScheduler,
  waitingMs,
} from './sync-scheduler.ts'

const MINUTE = 60_000
const TIMES: ScheduleTimes = {
  debounceMs: 10_000,
  maxWaitMs: MINUTE,
  minIntervalMs: 5 * MINUTE,
  retryMs: MINUTE,
}

const notifiedAt = (...times: number[]): Schedule =>
  times.reduce((state, now) => notified(state, ['people'], 'delivery', now), IDLE)

/** The state after a trigger for a notification at 1 s. */
const ended = (result: SyncResult) => end(begin(notifiedAt(1000), 2000), result, 3000, TIMES)

describe('the schedule of syncs', () => {
  it('waits for a quiet period after the last notification', () => {
    expect(dueAt(notifiedAt(0, 5_000, 8_000), TIMES)).toBe(18_000)
  })

  it('waits no longer than the longest wait after the first notification', () => {
    const times = Array.from({ length: 100 }, (_, i) => i * 1000)
    expect(dueAt(notifiedAt(...times), TIMES)).toBe(MINUTE)
  })

  it('keeps the interval between two starts, whatever notifications come', () => {
    const synced = end(begin(notifiedAt(0), 10_000), 'done', 20_000, TIMES)
    expect(dueAt(notified(synced, ['people'], 'delivery', 21_000), TIMES)).toBe(10_000 + 5 * MINUTE)
  })

  it('starts no trigger while one runs, and handles notifications of that time afterwards', () => {
    const running = notified(begin(notifiedAt(0), 10_000), ['clockings'], 'delivery', 12_000)
    expect(dueAt(running, TIMES)).toBeUndefined()
    const after = end(running, 'done', 13_000, TIMES)
    expect(after.waiting?.collections).toEqual(['clockings'])
  })

  it('keeps the streams that a failed trigger should have synced, and pauses 1, 2, 4 ... 30 minutes', () => {
    let state = notifiedAt(0)
    const pauses = Array.from({ length: 7 }, () => {
      state = end(begin(state, 0), 'failed', 0, { ...TIMES, minIntervalMs: 0 })
      return (dueAt(state, { ...TIMES, minIntervalMs: 0, debounceMs: 0 }) ?? 0) / MINUTE
    })
    expect(pauses).toEqual([1, 2, 4, 8, 16, 30, 30])
    expect(state).toMatchObject({ failures: 7, waiting: { collections: ['people'] } })
    expect(end(begin(state, 0), 'done', 0, TIMES)).toMatchObject({
      failures: 0,
      waiting: undefined,
    })
  })

  it.each<[string, () => Schedule, number]>([
    ['none', () => IDLE, 0],
    ['those that wait', () => notifiedAt(1000, 5000), 9000],
    ['those that run', () => begin(notifiedAt(1000), 2000), 9000],
    ['those of failed triggers', () => ended('failed'), 9000],
    ['those of a cancelled one', () => ended('cancelled'), 9000],
    [
      'those that were postponed, and came with a later one',
      () => notified(ended('cancelled'), ['clockings'], 'delivery', 8000),
      9000,
    ],
    ['none after a success', () => ended('done'), 0],
    ['those of none that is named', () => notified(IDLE, [], 'delivery', 1000), 0],
  ])('knows the age of the oldest change of %s', (_, state, age) => {
    expect(waitingMs(state(), 10_000)).toBe(age)
  })

  it('counts a busy trigger neither as a failure nor as a start', () => {
    const busy = end(begin(notifiedAt(0), 10_000), 'busy', 11_000, TIMES)
    expect(busy).toMatchObject({ failures: 0, waiting: { collections: ['people'] } })
    expect(dueAt(busy, TIMES)).toBe(11_000 + MINUTE)
  })

  it('does not restart a cancelled sync, and adds its streams to the next one', () => {
    const cancelled = end(begin(notifiedAt(0), 10_000), 'cancelled', 11_000, TIMES)
    expect([dueAt(cancelled, TIMES), cancelled.failures]).toEqual([undefined, 0])
    const next = notified(cancelled, ['clockings'], 'delivery', 10 * MINUTE)
    expect(next).toMatchObject({
      waiting: { collections: ['people', 'clockings'], deliveries: 2 },
      postponed: undefined,
    })
    expect(dueAt(next, TIMES)).toBe(10 * MINUTE + TIMES.debounceMs)
    const during = notified(begin(notifiedAt(0), 10_000), ['clockings'], 'delivery', 12_000)
    const after = end(during, 'cancelled', 13_000, TIMES)
    expect(after.waiting?.collections).toEqual(['people', 'clockings'])
  })

  it('gives a trigger the most important reason among its notifications, and counts its deliveries', () => {
    const state = notified(notifiedAt(0, 1), ['clockings', 'people'], 'renewal', 2)
    expect(notified(state, ['people'], 'delivery', 3).waiting).toMatchObject({
      collections: ['people', 'clockings'],
      reason: 'renewal',
      deliveries: 3,
    })
    expect(notified(state, ['people'], 'start', 3).waiting?.reason).toBe('start')
  })

  it('starts a successful sync after each notification, one at a time, despite failures and kills', () => {
    const event = fc.record({
      afterMs: fc.integer({ min: 0, max: 3 * MINUTE }),
      what: fc.constantFrom('people', 'clockings', 'absences', 'kill'),
    })
    const trigger = fc.record({
      result: fc.constantFrom<SyncResult>('done', 'failed', 'busy', 'cancelled'),
      takesMs: fc.integer({ min: 0, max: 8 * MINUTE }),
    })
    fc.assert(
      fc.property(fc.array(event, { maxLength: 60 }), fc.array(trigger, { maxLength: 20 }), play),
      { numRuns: 3000 },
    )
  })
})

describe('the loop', () => {
  /** Runs it until so many syncs have started; returns when they did, and what they were to sync. */
  async function starts(most: number, during: (scheduler: SyncScheduler, at: number) => unknown) {
    const time = createVirtualTime()
    const stop = new AbortController()
    const { signal } = new AbortController()
    const started: [number, readonly string[]][] = []
    const scheduler = createSyncScheduler({
      times: TIMES,
      time,
      async trigger({ collections }) {
        started.push([time.now(), collections])
        during(scheduler, started.length)
        if (started.length === most) stop.abort()
        return 'done'
      },
    })
    const notifying = async () => {
      await time.sleep(1000, signal)
      during(scheduler, 0)
      await time.sleep(1000, signal)
      if (most === 0) stop.abort()
    }
    await time.run(Promise.all([scheduler.run(stop.signal), notifying()]))
    return { started, state: scheduler.state }
  }

  it('waits for a notification, and syncs what comes meanwhile with the next one', async () => {
    const { started, state } = await starts(2, (scheduler, count) => {
      if (count < 2) scheduler.notify([count === 0 ? 'people' : 'clockings'], 'delivery')
    })
    expect(started).toEqual([
      [11_000, ['people']],
      [11_000 + 5 * MINUTE, ['clockings']],
    ])
    expect([state.waiting, state.running]).toEqual([undefined, undefined])
  })

  it.each([
    ['while it waits for a notification', () => {}],
    [
      'before what was notified is due',
      (scheduler: SyncScheduler) => scheduler.notify(['people'], 'delivery'),
    ],
  ])('ends %s, if it is to stop', async (_, during) => {
    expect((await starts(0, during)).started).toEqual([])
  })
})

interface Run {
  readonly collections: readonly string[]
  readonly beganAt: number
  readonly endedAt: number
}

/**
 * Plays notifications, kills and triggers in the order of their times, and checks what the schedule promises, some
 * 100,000 times: expect would take most of the time.
 */
function play(
  events: readonly { afterMs: number; what: string }[],
  triggers: readonly { result: SyncResult; takesMs: number }[],
): void {
  const everything = ['people', 'clockings', 'absences']
  const notifications: { collection: string; at: number }[] = []
  const good: Run[] = []
  let state = notified(IDLE, everything, 'start', 0)
  let now = 0
  let due = 0
  let next = 0
  let running: (Run & { result: SyncResult }) | undefined
  let lastStart = Number.NEGATIVE_INFINITY
  const left = [...triggers]
  const upcoming = events.map((event) => {
    due += event.afterMs
    return { ...event, at: due }
  })
  for (;;) {
    const eventAt = upcoming[next]?.at ?? Number.POSITIVE_INFINITY
    const stepAt =
      running?.endedAt ?? Math.max(now, dueAt(state, TIMES) ?? Number.POSITIVE_INFINITY)
    if (eventAt === Number.POSITIVE_INFINITY && stepAt === Number.POSITIVE_INFINITY) {
      if (state.postponed === undefined) break
      now += MINUTE
      happen('people')
      continue
    }
    now = Math.min(eventAt, stepAt)
    if (eventAt <= stepAt) happen(upcoming[next++]?.what ?? '')
    else step()
  }
  for (const { collection, at } of notifications) {
    assert.ok(good.some((run) => run.beganAt >= at && run.collections.includes(collection)))
  }

  function happen(what: string): void {
    if (what === 'kill') {
      // The set is lost, and so is the sync that runs.
      running = undefined
      lastStart = Number.NEGATIVE_INFINITY
      state = notified(IDLE, everything, 'start', now)
    } else {
      notifications.push({ collection: what, at: now })
      state = notified(state, [what], 'delivery', now)
    }
  }

  function step(): void {
    if (running === undefined) {
      const waited = state.waiting?.firstAt ?? 0
      assert.ok(now - lastStart >= TIMES.minIntervalMs)
      assert.ok(now >= waited + TIMES.debounceMs)
      const collections = state.waiting?.collections ?? []
      state = begin(state, now)
      const { result, takesMs } = left.shift() ?? { result: 'done', takesMs: MINUTE }
      running = { collections, beganAt: now, endedAt: now + takesMs, result }
    } else {
      state = end(state, running.result, now, TIMES)
      if (running.result !== 'busy') lastStart = running.beganAt
      if (running.result === 'done') good.push(running)
      running = undefined
    }
  }
}
