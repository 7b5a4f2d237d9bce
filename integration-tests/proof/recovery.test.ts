import { afterEach, describe, expect, it } from 'vitest'
import type { EmulatorOptions } from '../../emulator/emulator.ts'
import { type Scenario, startScenario, withState } from '../histories/scenario.ts'
import { createPlatform } from '../histories/warehouses.ts'
import { keyOf } from '../testing/warehouse.ts'

let scenario: Scenario
afterEach(() => scenario.emulator.close())

async function start(streams: readonly string[], options?: EmulatorOptions): Promise<Scenario> {
  scenario = await startScenario(streams, options)
  return scenario
}

/** Text that makes a page so large that it is emitted while it arrives. */
const LARGE = 'x'.repeat(6_000_000)
const STARTS_OVER = 'read from the beginning'

describe('a stream that starts over', () => {
  // spec: Delta mode 2
  // spec: Errors: 410
  it('deletes the rows that vanished in the meantime, and no others', async () => {
    const { emulator, sync } = await start(['people', 'clockings'])
    for (let id = 1; id <= 4; id++) emulator.insert('clockings')
    await sync()
    emulator.remove('people', 2)
    emulator.remove('clockings', 3)
    emulator.advance({ hours: 73 })
    const { deleted } = await sync()
    expect(deleted.toSorted()).toEqual([2, 3])
    expect(scenario.differences()).toEqual([])
  })

  it('deletes them even if it has to start over again before its end', async () => {
    const { emulator, sync } = await start(['people'])
    await sync()
    emulator.remove('people', 2)
    emulator.advance({ hours: 73 })
    await sync({ killAfter: 8 })
    emulator.remove('people', 1)
    emulator.advance({ hours: 73 })
    const { deleted } = await sync()
    expect(deleted.toSorted()).toEqual([1, 2])
    expect(scenario.differences()).toEqual([])
  })

  it('keeps a row that comes back while everything is read again', async () => {
    const { emulator, sync } = await start(['people'])
    await sync()
    const [person] = emulator.all('people')
    emulator.remove('people', 1)
    emulator.advance({ hours: 73 })
    // The first page of the new reading has passed the row when it comes back.
    await sync({ onRequest: (n) => n === 3 && emulator.restore('people', person ?? {}) })
    expect(scenario.differences()).toEqual([])
  })

  it.each(['jobs', 'job_categories'])(
    'forgets a row of %s on an interrupted page that is missing when the page is requested again',
    async (stream) => {
      const collection = stream.replaceAll('_', '-')
      const { emulator, sync } = await start([stream], { people: 0, pageSize: 10 })
      emulator.insert(collection)
      emulator.insert(collection, { comments: LARGE })
      emulator.fault(`/${collection}`, 'truncate', { times: 1, afterBytes: 5_000_000 })
      const { messages } = await sync({
        onRequest: (n) => n === 3 && emulator.remove(collection, 1),
      })
      const sent = messages.flatMap(({ record }) => (record ? [keyOf(record.data)] : []))
      expect(sent.filter((key) => key === '1')).toHaveLength(2)
      expect(scenario.differences()).toEqual([])
    },
  )
})

describe('a Delete', () => {
  it('with a lower version than the row had deletes the row nevertheless', async () => {
    const { emulator, sync, platform } = await start(['jobs'])
    await sync()
    const { link } = platform.stateOf('jobs') as unknown as { link: string }
    emulator.remove('jobs', 1)
    const body = {
      value: [{ changeType: 'Delete', data: { changeVersion: '00000A10000000000000', id: 1 } }],
      deltaLink: link,
    }
    emulator.respond('/delta/jobs', () => ({ status: 200, body: JSON.stringify(body) }), {
      times: 1,
    })
    await sync()
    expect(scenario.differences()).toEqual([])
  })
})

describe('a row that moves across the border of the delta', () => {
  it.each(['delete', 'update', 'nothing'] as const)(
    'into the old days remains one row if the service reports %s',
    async (leavingRow) => {
      const { emulator, sync, settings } = await start(['clockings'], { people: 0, leavingRow })
      Object.assign(settings, { start_date: '2024-01-01', history_refresh_days: 1 })
      emulator.insert('clockings', { date: '2026-10-01' })
      await sync()
      emulator.update('clockings', 1, { date: '2024-10-01' })
      await sync()
      emulator.advance({ hours: 25 })
      await sync()
      expect(scenario.differences()).toEqual([])
    },
  )

  it('out of the old days is sent by the next sync, and not deleted by the next listing', async () => {
    const { emulator, sync, settings } = await start(['clockings'], { people: 0 })
    Object.assign(settings, { start_date: '2024-01-01', history_refresh_days: 1 })
    emulator.insert('clockings', { date: '2024-10-01' })
    await sync()
    emulator.update('clockings', 1, { date: '2026-10-01' })
    await sync()
    expect(scenario.differences()).toEqual([])
    emulator.advance({ hours: 25 })
    const { deleted } = await sync()
    expect(deleted).toEqual([])
  })
})

describe('a process that dies after any line', () => {
  it('loses nothing, and does not read again what a STATE covers', async () => {
    const { emulator, sync, settings } = await start(['job_categories', 'people'])
    // An audit reads all again when the answer to a delta link may have been lost.
    settings['audit_days'] = 0
    const whole = await sync()
    for (let lines = 1; lines < whole.messages.length; lines++) {
      scenario.platform = createPlatform()
      const first = await sync({ killAfter: lines })
      const covered = new Set(first.records.slice(0, coveredBy(first.messages)).map(identity))
      const second = await sync()
      expect(scenario.differences(), `line ${lines}`).toEqual([])
      // A list is read anew by each sync, also one that continues it.
      const again = second.records.map(identity).filter((row) => covered.has(row))
      expect(
        again.filter((row) => row.startsWith('person')),
        `line ${lines}`,
      ).toEqual([])
    }
    expect(emulator.requests.length).toBeGreaterThan(whole.messages.length)
  })
})

/** How many records stand before the last STATE; the streams are read one after the other. */
function coveredBy(messages: Awaited<ReturnType<Scenario['sync']>>['messages']): number {
  const last = messages.findLastIndex(({ state }) => state !== undefined)
  return messages.slice(0, Math.max(0, last)).filter(({ record }) => record !== undefined).length
}

function identity(row: Readonly<Record<string, unknown>>): string {
  return `${row['lastName'] === undefined ? 'job category' : 'person'} ${row['id']}`
}

describe('a dead continuation', () => {
  it.each([400, 409, 410] as const)('starts the stream over by status %s', async (status) => {
    const { emulator, sync } = await start(['people', 'job_categories'])
    const { warnings, exitCode } = await sync({
      onRequest: (n) => n === 4 && emulator.expireContinuations(status),
    })
    expect(exitCode).toBe(0)
    expect(warnings.join()).toContain(STARTS_OVER)
    expect(scenario.differences()).toEqual([])
  })

  it.each([400, 409, 410] as const)(
    'that a STATE holds starts the stream over by status %s',
    async (status) => {
      const { emulator, sync } = await start(['people'])
      await sync({ killAfter: 7 })
      emulator.expireContinuations(status)
      const { warnings, exitCode } = await sync()
      expect(exitCode).toBe(0)
      expect(warnings.join()).toContain(STARTS_OVER)
      expect(scenario.differences()).toEqual([])
    },
  )

  it('after every page ends as a transient failure', async () => {
    const { emulator, sync } = await start(['job_categories'])
    emulator.fail(/continuationToken/, 410)
    const { errors, warnings } = await sync()
    expect(errors).toEqual([expect.stringContaining('links expire before the stream is complete')])
    expect(warnings).toEqual([
      expect.stringContaining('the stream is read from the beginning'),
      expect.stringMatching(/^Sync failed for 1 of 1 stream/),
    ])
  })
})

describe('a token that expires', () => {
  // spec: Authentication 5
  it('before any request is renewed, and nothing is lost', async () => {
    const { emulator, sync } = await start(['people', 'job_categories'])
    const { requests } = await sync()
    for (let at = 2; at <= requests.length; at++) {
      scenario.platform = createPlatform()
      const { exitCode } = await sync({ onRequest: (n) => n === at && emulator.expireTokens() })
      expect(exitCode, `request ${at}`).toBe(0)
      expect(scenario.differences(), `request ${at}`).toEqual([])
    }
  })
})

describe('a clock that is years off the service', () => {
  it.each(['2019-02-03T04:05:06Z', '2041-05-06T07:08:09Z'])(
    'does not matter at %s',
    async (now) => {
      const { emulator, sync } = await start(['people', 'clockings'], { now })
      emulator.insert('clockings')
      await sync()
      emulator.advance({ hours: 71 })
      emulator.update('people', 1)
      expect((await sync()).warnings).toEqual([])
      emulator.advance({ hours: 73 })
      expect((await sync()).warnings).toHaveLength(2)
      expect(scenario.differences()).toEqual([])
    },
  )
})

describe('a conflict', () => {
  it('at the start of a delta is requested four times in all, then explained', async () => {
    const { emulator, sync } = await start(['people'], { secondStart: 'conflict' })
    emulator.stealDelta('people')
    const { errors, requests, warnings } = await sync()
    expect(errors).toEqual([expect.stringContaining('one active delta for each collection')])
    expect(requests).toEqual(Array(4).fill('/people?delta'))
    expect(warnings).toEqual([expect.stringMatching(/^Sync failed for 1 of 1 stream/)])
  })

  it('on a stored link is requested four times in all, explained, and never a reason to start over', async () => {
    const { emulator, sync } = await start(['people'])
    await sync()
    emulator.fail('/delta/people', 409)
    const { errors, requests } = await sync()
    expect(errors).toEqual([expect.stringContaining('one active delta for each collection')])
    expect(requests.map((text) => text.split('?')[0])).toEqual(Array(4).fill('/delta/people'))
    emulator.clearFaults()
    emulator.update('people', 1)
    const { records, warnings } = await sync()
    expect(records.map(({ id }) => id)).toEqual([1])
    expect(warnings).toEqual([])
  })
})

describe('a delta that ends early', () => {
  const ADVICE = /^The deltas of these streams ended early.*: (.*?)\./
  const advice = (warnings: readonly string[]) => warnings.filter((text) => ADVICE.test(text))

  it('is attributed to another program, in one message for all streams', async () => {
    const { emulator, sync } = await start(['people', 'jobs', 'departments'])
    await sync()
    emulator.remove('people', 1)
    for (const collection of ['people', 'jobs']) emulator.stealDelta(collection)
    const { warnings } = await sync()
    expect(advice(warnings)).toEqual([
      expect.stringMatching(/: jobs, people\. Probably another program reads them/),
    ])
    expect(scenario.differences()).toEqual([])
  })

  it('while it is read is attributed to a program that reads at this moment', async () => {
    const { emulator, sync } = await start(['people'])
    const { warnings } = await sync({ onRequest: (n) => n === 3 && emulator.stealDelta('people') })
    expect(advice(warnings)).toEqual([expect.stringMatching(/with the same client at this moment/)])
  })

  it('together with all others may be a restart of the service', async () => {
    const { emulator, sync } = await start(['people', 'jobs'])
    await sync()
    for (const collection of ['people', 'jobs']) emulator.expireDelta(collection)
    const { warnings } = await sync()
    expect(advice(warnings)).toEqual([expect.stringMatching(/the service may have been restarted/)])
  })

  it('is not the explanation for a damaged link', async () => {
    const { sync } = await start(['people'])
    await sync()
    scenario.platform = withState(scenario.platform, 'people', (blob) => ({
      ...blob,
      link: 'nonsense',
    }))
    const { warnings } = await sync()
    expect(warnings).toEqual([expect.stringMatching(/^people: its link cannot be used any more/)])
    expect(scenario.differences()).toEqual([])
  })
})

describe('a delta link whose answer was lost', () => {
  const flavours = ['answers', 'continues', 'conflict', 'gone'] as const

  it.each(flavours)('on the network is repaired when the service %s', async (usedDeltaLink) => {
    const { emulator, sync } = await start(['people'], { usedDeltaLink })
    await sync()
    emulator.update('people', 1)
    emulator.remove('people', 2)
    emulator.fault('/delta/people', 'after-last-byte', { times: 1 })
    const { exitCode } = await sync()
    expect(exitCode).toBe(0)
    expect(scenario.differences()).toEqual([])
  })

  it.each(flavours)(
    'behind a first read is repaired when the service %s',
    async (usedDeltaLink) => {
      const { emulator, sync } = await start(['people'], { usedDeltaLink })
      emulator.fault('/delta/people', 'after-last-byte', { times: 1 })
      const { exitCode } = await sync({ onRequest: (n) => n === 3 && emulator.update('people', 1) })
      expect(exitCode).toBe(0)
      expect(scenario.differences()).toEqual([])
    },
  )

  it.each(flavours)('with the process is repaired when the service %s', async (usedDeltaLink) => {
    const { emulator, sync } = await start(['people'], { usedDeltaLink })
    await sync()
    for (let lines = 1; lines <= 5; lines++) {
      emulator.update('people', 1)
      emulator.insert('people')
      await sync({ killAfter: lines })
      const { exitCode } = await sync()
      expect(exitCode, `line ${lines}`).toBe(0)
      expect(scenario.differences(), `line ${lines}`).toEqual([])
    }
  })
})

describe('a delta link that is requested after the old days were listed again', () => {
  it('is known to be used if the process dies with its answer', async () => {
    const { emulator, sync, settings } = await start(['clockings'], {
      people: 0,
      usedDeltaLink: 'conflict',
    })
    Object.assign(settings, { start_date: '2024-06-01', history_refresh_days: 1 })
    for (const date of ['2024-07-02', '2026-10-01']) emulator.insert('clockings', { date })
    await sync()
    for (let lines = 1; lines <= 8; lines++) {
      emulator.update('clockings', 2)
      emulator.advance({ hours: 25 })
      await sync({ killAfter: lines })
      const { errors } = await sync()
      expect(errors, `line ${lines}`).toEqual([])
      expect(scenario.differences(), `line ${lines}`).toEqual([])
    }
  })
})
