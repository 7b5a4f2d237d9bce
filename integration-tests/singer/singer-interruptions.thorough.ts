import { Writable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, it } from 'vitest'
import { startEmulator } from '../../emulator/emulator.ts'
import type { EmulatorOptions } from '../../emulator/options.ts'
import { shortRetryPolicy } from '../../src/http/testing/virtual-time.ts'
import type { SingerMessage, SingerState } from '../../src/protocol/acceptance/messages.ts'
import { streams } from '../../src/streams/streams.ts'
import { createCollector } from '../testing/output.ts'
import { parseLines, type SingerOptions, start as startProgram, tap } from '../testing/run.ts'
import { lastState, selecting } from '../testing/singer-messages.ts'
import { createSingerWarehouse, differences, type SingerWarehouse } from '../testing/warehouse.ts'

let emulator: Awaited<ReturnType<typeof startEmulator>>
afterEach(() => emulator.close())

const CHOSEN = ['clockings', 'job_categories', 'people', 'work_locations']
const CHANGES = { inserts: 40, updates: 40, deletes: 40, softDeletes: 3 }
const catalog = selecting(CHOSEN)

/** A sync in this process, in which a request has six attempts. */
function here(options: Partial<SingerOptions>) {
  return tap({ in: 'process', retryPolicy: shortRetryPolicy(6), ...options })
}

async function start(options: EmulatorOptions = {}): Promise<Record<string, unknown>> {
  emulator = await startEmulator({ people: 3, months: 1, pageSize: 20, ...options })
  return emulator.config()
}

function faults(warehouse: SingerWarehouse): string[] {
  return CHOSEN.flatMap((stream) =>
    differences(
      stream,
      warehouse.rows(stream),
      emulator.all(streams.get(stream)?.collection ?? ''),
    ),
  )
}

function isDelta({ path }: { path: string }): boolean {
  return path.startsWith('/delta/')
}

/**
 * A runner and two targets. The one that activates versions keeps every record that came; the other
 * rolls back what no STATE covers, because nobody could tell it of rows that vanished since.
 */
function createRunner() {
  const all = createSingerWarehouse(true)
  const committed = createSingerWarehouse(false)
  const runner = {
    state: undefined as SingerState | undefined,
    keep(messages: readonly SingerMessage[]) {
      const end = messages.findLastIndex(({ type }) => type === 'STATE') + 1
      all.load(messages)
      committed.load(messages.slice(0, end))
      runner.state = lastState(messages) ?? runner.state
    },
    faults: () => [...faults(all), ...faults(committed)],
  }
  return runner
}

describe('a run that is killed', () => {
  it.each([
    ['answers', 1],
    ['conflict', 2],
    // With these changes a STATE of another stream follows rows that then vanish.
    ['gone', 7],
    ['gone', 12],
  ] as const)(
    'after any line continues from its last STATE if a used delta link %s, with changes %i',
    async (usedDeltaLink, seed) => {
      const config = await start({ usedDeltaLink })
      const runner = createRunner()
      for (let lines = 1; lines < 400; lines = Math.ceil(lines * 1.25)) {
        const { messages } = await here({ config, catalog, state: runner.state, killAfter: lines })
        runner.keep(messages)
        emulator.randomChanges({ inserts: 4, updates: 4, deletes: 3, seed: seed * 1000 + lines })
        emulator.advance({ minutes: 1 })
      }
      // The second one lists anew what the first one had begun to list before rows vanished.
      for (let runs = 0; runs < 2; runs++) {
        const { exitCode, messages } = await here({ config, catalog, state: runner.state })
        expect(exitCode).toBe(0)
        runner.keep(messages)
      }
      expect(runner.faults()).toEqual([])
    },
  )

  it('by SIGKILL in the middle continues, too', async () => {
    const config = await start()
    const cut = await tap({ config, catalog, killAfter: 100 })
    expect(cut.signal).toBe('SIGKILL')
    const warehouse = createSingerWarehouse(false)
    warehouse.load(cut.messages)
    const rest = await tap({ config, catalog, state: cut.state })
    warehouse.load(rest.messages)
    expect(faults(warehouse)).toEqual([])
  })
})

describe('meltano config test, which ends a run at its first RECORD', () => {
  it('starts no delta before that record has left the process', async () => {
    const config = await start()
    const written: string[] = []
    let release = () => {}
    const stdout = new Writable({
      highWaterMark: 1,
      write(chunk: Buffer, _encoding, done) {
        written.push(chunk.toString('utf8'))
        // The first record stays under way until it is released.
        if (release === undefined || !chunk.includes('"RECORD"')) done()
        else {
          const first = written.filter((text) => text.includes('"RECORD"')).length === 1
          if (first) release = done
          else done()
        }
      },
    })
    const run = here({ config, catalog, stdout })
    while (!written.some((text) => text.includes('"RECORD"'))) await sleep(10)
    await sleep(200)
    expect(emulator.requests.filter(isDelta)).toEqual([])
    release()
    expect((await run).exitCode).toBe(0)
    expect(emulator.requests.some(isDelta)).toBe(true)
  })

  it('ends with the signal, although nobody reads any more', async () => {
    const config = await start({ people: 60, pageSize: 5000 })
    const run = startProgram({ program: 'tap-protime', config, catalog })
    await run.until(() => run.heard().includes('"RECORD"'), 'a record')
    run.pause()
    expect(await run.endsSoonAfter(() => run.child.kill('SIGTERM'), run.exited)).toBe('SIGTERM')
    await run.stop()
  })

  it('may nevertheless end a delta: the next run of the pipeline repairs it', async () => {
    const config = await start()
    const warehouse = createSingerWarehouse(false)
    const first = await here({ config, catalog })
    warehouse.load(first.messages)
    // A test has no state, so it starts deltas of its own, and the pipeline's die by that.
    await here({ config, catalog, killAfter: 150 })
    emulator.randomChanges(CHANGES)
    const next = await here({ config, catalog, state: first.state })
    warehouse.load(next.messages)
    expect(next.exitCode).toBe(0)
    expect(next.stderr).toMatch(/WARNING The deltas of these streams ended early.*: .*people/)
    expect(faults(warehouse)).toEqual([])
  })
})

describe('ACTIVATE_VERSION', () => {
  const activated = (messages: readonly SingerMessage[]) =>
    messages.flatMap((message) => (message.type === 'ACTIVATE_VERSION' ? [message.stream] : []))

  it('comes after a complete read, but not after changes alone', async () => {
    const config = await start()
    const first = await here({ config, catalog })
    expect(activated(first.messages).toSorted()).toEqual(CHOSEN)
    const second = await here({ config, catalog, state: first.state })
    // Streams without a delta are read whole each time.
    expect(activated(second.messages).toSorted()).toEqual(['job_categories', 'work_locations'])
  })

  it('comes after every record of its version, except those of later changes', async () => {
    const config = await start()
    const { messages } = await here({ config, catalog })
    const at = messages.findIndex(
      (message) => message.type === 'ACTIVATE_VERSION' && message.stream === 'clockings',
    )
    const before = createSingerWarehouse(true)
    before.load(messages.slice(0, at + 1))
    expect(differences('clockings', before.rows('clockings'), emulator.all('clockings'))).toEqual(
      [],
    )
  })

  it('does not come for a stream that fails half way', async () => {
    const config = await start()
    emulator.fail(/^\/people/, 403)
    emulator.fail(/^\/delta\/people/, 403)
    const run = await here({ config, catalog })
    expect(run.exitCode).toBe(1)
    expect(activated(run.messages)).not.toContain('people')
  })

  it('can be switched off', async () => {
    const config = await start()
    const quiet = { ...config, emit_activate_version_messages: false }
    expect(activated((await here({ config: quiet, catalog })).messages)).toEqual([])
  })
})

describe('a STATE', () => {
  it.each([100_000, 900_000, 5_000_000])(
    'that says that a delta link is asked is out before the link is asked, also with %d characters',
    async (size) => {
      const config = await start()
      const { state: first } = await here({ config, catalog })
      // A bookmark of another stream makes every STATE large.
      const state = { bookmarks: { ...first?.bookmarks, other: { live: 'x'.repeat(size) } } }
      const stdout = createCollector()
      const announced: unknown[] = []
      emulator.onRequest(({ path, query }) => {
        if (path !== '/delta/people' || query === '') return
        announced.push(lastState(parseLines(stdout.text()))?.bookmarks['people']?.['requested'])
      })
      await here({ config, catalog, state, stdout })
      expect(announced).toEqual([true])
    },
  )
})
