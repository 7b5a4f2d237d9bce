import { getEventListeners } from 'node:events'
import { describe, expect, it } from 'vitest'
import { sleep } from './clock.ts'
import { createRateLimiter, type RateLimiter } from './rate-limiter.ts'
import { createVirtualTime, type VirtualTime } from './testing/virtual-time.ts'

const { signal } = new AbortController()

/** A service with a token bucket, like most rate limits. */
interface Bucket {
  readonly perSecond: number
  readonly size: number
}

interface Load {
  readonly bucket: Bucket
  readonly workers: number
  readonly requests: number
  readonly latencyMs: number
  readonly retryAfterMs?: number
}

/** Sends requests from workers as the client does, and counts the refused ones. */
async function send(load: Load, limiter: RateLimiter, time: VirtualTime) {
  const takes = tokenBucket(load.bucket, time)
  let left = load.requests
  let refused = 0
  const worker = async () => {
    while (left-- > 0) {
      for (let attempt = 0; ; attempt++) {
        const admission = await limiter.acquire(signal)
        await time.sleep(load.latencyMs / 2, signal)
        const isTaken = takes()
        await time.sleep(load.latencyMs / 2, signal)
        if (isTaken) break
        refused++
        limiter.onThrottled(admission, load.retryAfterMs ?? 250 * 2 ** attempt)
      }
      limiter.onSuccess()
    }
  }
  await time.run(Promise.all(Array.from({ length: load.workers }, worker)))
  return { refused, seconds: time.now() / 1000 }
}

function tokenBucket({ perSecond, size }: Bucket, time: VirtualTime): () => boolean {
  let level = size
  let last = 0
  return () => {
    level = Math.min(size, level + ((time.now() - last) / 1000) * perSecond)
    last = time.now()
    if (level < 1) return false
    level--
    return true
  }
}

const TEN_A_SECOND: Bucket = { perSecond: 10, size: 10 }

describe.each([
  { answer: 'with Retry-After', retryAfterMs: 1000 },
  { answer: 'without Retry-After', retryAfterMs: undefined },
])('1,000 requests to a service that takes 10 a second and refuses $answer', ({ retryAfterMs }) => {
  it.each([
    { workers: 4, latencyMs: 5 },
    { workers: 4, latencyMs: 50 },
    { workers: 5, latencyMs: 300 },
    { workers: 6, latencyMs: 5 },
    { workers: 6, latencyMs: 50 },
    { workers: 6, latencyMs: 300 },
  ])(
    'take at most 1.3 of the ideal time, few refused ($workers workers, $latencyMs ms)',
    async ({ workers, latencyMs }) => {
      const time = createVirtualTime()
      const load = {
        bucket: TEN_A_SECOND,
        workers,
        latencyMs,
        requests: 1000,
        ...(retryAfterMs !== undefined && { retryAfterMs }),
      }
      const { refused, seconds } = await send(load, createRateLimiter(undefined, time), time)
      expect({
        isRarelyRefused: refused < 50,
        isQuick: seconds <= (1.3 * (1000 - 10)) / 10,
      }).toEqual({ isRarelyRefused: true, isQuick: true })
    },
  )
})

describe('a limiter of a service that never refuses', () => {
  // spec: Limits: rate
  it('lets every request pass without a timer', async () => {
    const time = createVirtualTime()
    const limiter = createRateLimiter(undefined, time)
    await time.run(
      (async () => {
        for (let i = 0; i < 1000; i++) {
          await limiter.acquire(signal)
          limiter.onSuccess()
        }
      })(),
    )
    expect(time.sleeps).toBe(0)
  })
})

/** The times in milliseconds at which the next requests are admitted, when all ask at once. */
async function admissions(
  count: number,
  limiter: RateLimiter,
  time: VirtualTime,
): Promise<number[]> {
  const asks = Array.from({ length: count }, () => limiter.acquire(signal).then(() => time.now()))
  return time.run(Promise.all(asks))
}

/** A limiter that was refused at a measured rate of 10 requests per second. */
async function refusedLimiter(waitMs: number) {
  const time = createVirtualTime()
  const limiter = createRateLimiter(undefined, time)
  await time.run(
    (async () => {
      for (let i = 0; i < 10; i++) {
        await limiter.acquire(signal)
        limiter.onSuccess()
        await time.sleep(100, signal)
      }
      limiter.onThrottled(await limiter.acquire(signal), waitMs)
    })(),
  )
  return { time, limiter, refusedAt: time.now() }
}

describe('a limiter that was refused', () => {
  // spec: Limits: rate
  it('admits no request before the Retry-After is over', async () => {
    const { time, limiter, refusedAt } = await refusedLimiter(7000)
    expect(await admissions(1, limiter, time)).toEqual([refusedAt + 7000])
  })

  it('continues with half of the rate that the service had accepted', async () => {
    const { time, limiter } = await refusedLimiter(1000)
    const [first = 0, second = 0] = await admissions(2, limiter, time)
    expect(second - first).toBeCloseTo(200)
  })

  it('is back just below that rate within seconds, probes around it slowly, then grows again', async () => {
    const { time, limiter, refusedAt } = await refusedLimiter(0)
    const at = await admissions(400, limiter, time)
    const rateIn = (from: number, until: number) =>
      at.filter((ms) => ms - refusedAt >= from && ms - refusedAt < until).length /
      ((until - from) / 1000)
    expect([rateIn(5000, 8000), rateIn(9000, 12000), rateIn(18000, 21000)]).toEqual([
      expect.closeTo(9.8, 0),
      expect.closeTo(10, 0),
      expect.closeTo(15.9, 0),
    ])
  })

  it('counts the late refusal of a request that was sent before the first one together with it', async () => {
    const time = createVirtualTime()
    const limiter = createRateLimiter(undefined, time)
    const [first, late] = await time.run(
      (async () => {
        for (let i = 0; i < 10; i++) {
          limiter.onSuccess()
          await time.sleep(100, signal)
        }
        return Promise.all([limiter.acquire(signal), limiter.acquire(signal)])
      })(),
    )
    limiter.onThrottled(first, 100)
    await time.run(limiter.acquire(signal))
    limiter.onSuccess()
    limiter.onThrottled(late, 0)
    const [one = 0, two = 0] = await admissions(2, limiter, time)
    expect(two - one).toBeCloseTo(200)
  })

  it('keeps its rate if nothing was accepted in between', async () => {
    const { time, limiter } = await refusedLimiter(1000)
    await time.run(limiter.acquire(signal).then((again) => limiter.onThrottled(again, 1000)))
    const [first = 0, second = 0] = await admissions(2, limiter, time)
    expect(second - first).toBeCloseTo(200)
  })

  it('measures the rate of the last five seconds only', async () => {
    const time = createVirtualTime()
    const limiter = createRateLimiter(undefined, time)
    await time.run(
      (async () => {
        await time.sleep(100, signal)
        for (let i = 0; i < 10; i++) limiter.onSuccess()
        await time.sleep(60_000, signal)
        limiter.onSuccess()
        limiter.onThrottled(await limiter.acquire(signal), 0)
      })(),
    )
    // Half of one request in five seconds.
    const [first = 0, second = 0] = await admissions(2, limiter, time)
    expect(second - first).toBeCloseTo(10_000)
  })

  it('before it has accepted any takes it for the shortest measure', async () => {
    const time = createVirtualTime()
    const limiter = createRateLimiter(undefined, time)
    limiter.onThrottled(await limiter.acquire(signal), 0)
    // Half of one request in 250 ms.
    const [first = 0, second = 0] = await admissions(2, limiter, time)
    expect(second - first).toBeCloseTo(500)
  })

  it('pauses for the longest of several waits', async () => {
    const time = createVirtualTime()
    const limiter = createRateLimiter(undefined, time)
    const [first, second] = await Promise.all([limiter.acquire(signal), limiter.acquire(signal)])
    limiter.onThrottled(first, 5000)
    limiter.onThrottled(second, 10)
    expect(await admissions(1, limiter, time)).toEqual([5000])
  })

  it('catches up after a short delay, not after a long pause', async () => {
    const { time, limiter } = await refusedLimiter(0)
    await time.run(time.sleep(3000, signal))
    const at = await admissions(6, limiter, time)
    expect(at.filter((ms) => ms === at[0])).toHaveLength(3)
  })

  it('admits no request that is aborted, even if it would not wait', async () => {
    const aborted = AbortSignal.abort(new Error('stopped'))
    await expect(createRateLimiter(undefined).acquire(aborted)).rejects.toThrow('stopped')
  })

  it('stops waiting when it is aborted', async () => {
    const limiter = createRateLimiter(undefined)
    const stop = new AbortController()
    limiter.onThrottled(await limiter.acquire(stop.signal), 60_000)
    const waiting = Promise.allSettled([limiter.acquire(stop.signal), limiter.acquire(stop.signal)])
    setImmediate(() => stop.abort(new Error('stopped')))
    expect((await waiting).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  })
})

describe('requests_per_minute', () => {
  it('is shared in the order of the calls', async () => {
    const time = createVirtualTime()
    const limiter = createRateLimiter(120, time)
    const order: string[] = []
    const worker = async (name: string) => {
      for (let i = 0; i < 3; i++) {
        await limiter.acquire(signal)
        order.push(name)
      }
    }
    await time.run(Promise.all(['a', 'b', 'c'].map(worker)))
    expect(order.join('')).toBe('abcabcabc')
  })

  it('is shared in this order although a timer is late', async () => {
    let now = 0
    const sleep = async (ms: number) => {
      now += ms
    }
    const limiter = createRateLimiter(60, { now: () => now, sleep })
    await limiter.acquire(signal)
    const waiting = limiter.acquire(signal)
    now = 1000
    expect(await Promise.all([waiting, limiter.acquire(signal)])).toEqual([2, 3])
  })

  it('applies from the first request on', async () => {
    const time = createVirtualTime()
    const at = await admissions(5, createRateLimiter(120, time), time)
    expect(at).toEqual([0, 500, 1000, 1500, 2000])
  })

  it('is not exceeded after a pause', async () => {
    const time = createVirtualTime()
    const limiter = createRateLimiter(120, time)
    await time.run(limiter.acquire(signal).then(() => time.sleep(10_000, signal)))
    expect(await admissions(3, limiter, time)).toEqual([10_000, 10_500, 11_000])
  })
})

describe('a sleep', () => {
  it('ends with the reason of the signal', async () => {
    const stop = new AbortController()
    const sleeping = sleep(60_000, stop.signal)
    stop.abort(new Error('stopped'))
    await expect(sleeping).rejects.toThrow('stopped')
  })

  it('does not begin when the signal is already aborted', async () => {
    await expect(sleep(0, AbortSignal.abort(new Error('stopped')))).rejects.toThrow('stopped')
  })

  it('leaves no listener at the signal', async () => {
    const { signal } = new AbortController()
    await sleep(1, signal)
    expect(getEventListeners(signal, 'abort')).toEqual([])
  })
})
