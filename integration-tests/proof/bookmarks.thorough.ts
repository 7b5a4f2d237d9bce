import fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import type { EmulatorOptions } from '../../emulator/emulator.ts'
import { createIdSet } from '../../src/rows/id-set.ts'
import { PRIVACY_KEY } from '../histories/history.ts'
import { type Blob, type Scenario, startScenario, withState } from '../histories/scenario.ts'

/** More at night. */
const { HISTORIES_SCALE = '1' } = process.env

const scenarios: Scenario[] = []
afterEach(async () => {
  for (const { emulator } of scenarios.splice(0)) await emulator.close()
})

async function start(streams: readonly string[], options?: EmulatorOptions): Promise<Scenario> {
  const scenario = await startScenario(streams, options)
  scenarios.push(scenario)
  return scenario
}

describe('a bookmark', () => {
  it('is flat, with the same keys and types at any position of a stream', async () => {
    const { emulator, sync, settings } = await start([
      'job_categories',
      'external_references',
      'people',
      'clockings',
    ])
    settings['start_date'] = '2024-01-01'
    emulator.insert('clockings')
    emulator.insert('clockings', { date: '2024-02-02' })
    const syncs = [await sync(), await sync()]
    emulator.advance({ hours: 73 })
    syncs.push(await sync({ killAfter: 9 }), await sync())
    const blobs = syncs.flatMap(({ messages }) =>
      messages.flatMap(({ state }) => (state === undefined ? [] : [state.stream.stream_state])),
    )
    const [keys] = blobs.map((blob) => Object.keys(blob))
    for (const blob of blobs) {
      expect(Object.keys(blob)).toEqual(keys)
      const values = Object.values(blob)
      expect(values.filter((value) => typeof value === 'object' && value !== null)).toEqual([])
    }
    expect(new Set(blobs.map(({ phase }) => phase))).toEqual(
      new Set(['list', 'complete', 'initial', 'backfill', 'changes']),
    )
  })

  it('shows no delta token in a log', async () => {
    const { emulator, sync } = await start(['people'])
    await sync()
    emulator.stealDelta('people')
    const { messages, warnings } = await sync()
    const said = messages.flatMap(({ log, trace }) => log?.message ?? trace?.error?.message ?? [])
    expect(warnings).toHaveLength(1)
    expect(said.join()).not.toContain('deltaToken')
  })
})

/** What takes 500 characters of a state. */
const FIVE_MILLION_IDS = encodedIds(5_000_000)

function encodedIds(count: number): string | null {
  const set = createIdSet()
  set.addIntegers(Float64Array.from({ length: count }, (_, i) => 100 + i))
  return set.encode()
}

describe('a bookmark that cannot be used', () => {
  const cases: [what: string, change: (blob: Blob) => unknown, says: string][] = [
    ['of an older version', (blob) => ({ ...blob, bookmark_version: 0 }), 'unknown version'],
    ['of a newer version', (blob) => ({ ...blob, bookmark_version: 9 }), 'unknown version'],
    ['of another connector', () => ({ cursor: '2026-01-01' }), 'another connector'],
    ['that is a text', () => 'abc', 'not an object'],
    ['that is a list', () => [1], 'not an object'],
    ['with an unknown phase', (blob) => ({ ...blob, phase: 'x' }), 'phase is damaged'],
    ['without a generation', (blob) => ({ ...blob, generation: null }), 'generation is damaged'],
    ['with a date that is none', (blob) => ({ ...blob, link_at: 'now' }), 'link_at is damaged'],
    ['with a number for a link', (blob) => ({ ...blob, link: 7 }), 'link is damaged'],
    ['with a damaged set', (blob) => ({ ...blob, window_ids: 'zAAAA' }), 'set of ids is damaged'],
    [
      'with a set of 5 million ids that nobody has counted',
      (blob) => ({ ...blob, window_ids: FIVE_MILLION_IDS }),
      'set of ids is damaged',
    ],
    [
      'with 5 million deletes that nobody has counted',
      (blob) => ({
        ...blob,
        pending: JSON.stringify([{ keys: FIVE_MILLION_IDS, version: '0A', isUnseen: false }]),
      }),
      'set of ids is damaged',
    ],
  ]

  it.each(cases)(
    '%s starts its stream over, says why, and does not affect the others',
    async (...row) => {
      const [, change, says] = row
      const scenario = await start(['people', 'jobs'])
      await scenario.sync()
      scenario.platform = withState(scenario.platform, 'people', change)
      const { warnings, records, exitCode } = await scenario.sync()
      expect(exitCode).toBe(0)
      expect(warnings).toEqual([expect.stringMatching(new RegExp(`^people: .*${says}`))])
      expect(records.map(({ id }) => id)).toEqual([1, 2, 3, 4])
      expect(scenario.differences()).toEqual([])
    },
  )
})

describe('a bookmark whose fields contradict each other', () => {
  const STREAMS = ['job_categories', 'external_references', 'people', 'clockings']

  async function startWithHistory(streams: readonly string[]): Promise<Scenario> {
    const scenario = await start(streams)
    scenario.settings['start_date'] = '2024-01-01'
    for (const date of ['2026-10-01', '2024-02-02', '2024-02-03', '2024-02-04'])
      scenario.emulator.insert('clockings', { date })
    return scenario
  }

  /** Bookmarks of each stream as different syncs leave them. */
  async function examples(): Promise<Map<string, Blob[]>> {
    const { emulator, sync } = await startWithHistory(STREAMS)
    const syncs = [await sync(), await sync()]
    emulator.advance({ hours: 73 })
    syncs.push(await sync({ killAfter: 20 }), await sync())
    const blobs = new Map<string, Blob[]>(STREAMS.map((stream) => [stream, []]))
    for (const { state } of syncs.flatMap(({ messages }) => messages)) {
      if (state === undefined) continue
      const { stream_descriptor: stream, stream_state: blob } = state.stream
      blobs.get(stream.name)?.push(blob as Blob)
    }
    return blobs
  }

  it('starts its stream over or continues, and never fails', async () => {
    const blobs = await examples()
    const mixed = fc.constantFrom(...STREAMS).chain((stream) => {
      const some = fc.constantFrom(...(blobs.get(stream) ?? []))
      const fields = fc.subarray(Object.keys(blobs.get(stream)?.[0] ?? {}), { minLength: 1 })
      return fc.record({
        stream: fc.constant(stream),
        some,
        other: some,
        fields,
        isNull: fc.boolean(),
      })
    })
    await fc.assert(
      fc.asyncProperty(mixed, async ({ stream, some, other, fields, isNull }) => {
        const scenario = await startWithHistory([stream])
        try {
          await scenario.sync()
          const taken = fields.map((field) => [field, isNull ? null : other[field]])
          const service = {
            service: (some['service'] as string).replace(/http:[^ ]*:\d+/, scenario.emulator.url),
          }
          scenario.platform = withState(scenario.platform, stream, () => ({
            ...some,
            ...Object.fromEntries(taken),
            ...service,
          }))
          const { exitCode, errors } = await scenario.sync()
          expect(errors).toEqual([])
          expect(exitCode).toBe(0)
          expect(scenario.differences()).toEqual([])
        } finally {
          await scenario.emulator.close()
        }
      }),
      { numRuns: 20 * Number(HISTORIES_SCALE) },
    )
  })
})

describe('a bookmark of another service', () => {
  it('with only another address belongs to the same tenant: it starts over, deletes included', async () => {
    const old = await start(['people'], { people: 4 })
    await old.sync()
    const scenario = await start(['people'], { people: 2 })
    scenario.platform = old.platform
    const { warnings, deleted } = await scenario.sync()
    expect(warnings).toEqual([expect.stringContaining('another address or API name')])
    expect(deleted.length).toBeGreaterThan(0)
    expect(scenario.differences()).toEqual([])
  })

  it('with another environment starts over without deletes, and so does the way back', async () => {
    const { emulator, settings, sync } = await start(['people'])
    const environment = emulator.config()['environment'] as object
    settings['environment'] = { ...environment, environment_url: 'time.test' }
    await sync()
    emulator.remove('people', 1)
    for (const environment_url of ['sandbox.time.test', 'time.test']) {
      settings['environment'] = { ...environment, environment_url }
      const { warnings, deleted } = await sync()
      expect(warnings).toEqual([expect.stringContaining('of another tenant or environment')])
      expect(deleted).toEqual([])
    }
  })

  it('with another tenant starts over without deletes, then continues', async () => {
    const old = await start(['people'], { people: 4 })
    await old.sync()
    const scenario = await start(['people'], { people: 2, tenant: 'other' })
    scenario.platform = old.platform
    const { warnings, deleted } = await scenario.sync()
    expect(warnings).toEqual([expect.stringContaining('of another tenant or environment')])
    expect(deleted).toEqual([])
    expect((await scenario.sync()).warnings).toEqual([])
  })
})

describe('a configuration that changes', () => {
  it('in its external references starts over once, and the records have them', async () => {
    const { emulator, settings, sync } = await start(['people', 'jobs'])
    await sync()
    emulator.remove('people', 2)
    settings['external_references'] = [{ collection: 'people', names: ['@employee-number'] }]
    const { warnings, records, deleted } = await sync()
    expect(warnings).toEqual([expect.stringMatching(/^people: the external references/)])
    expect(deleted).toEqual([2])
    const carried = records.filter((row) => row['externalReferences'] !== undefined)
    expect(carried.map(({ id }) => id)).toEqual([1, 3, 4])
    expect((await sync()).warnings).toEqual([])
  })

  it('in its treatment of personal data starts every stream over: each may have unknown secrets', async () => {
    const names = ['external_references', 'jobs', 'people']
    const scenario = await start(names)
    const startedOver = ({ warnings }: { readonly warnings: readonly string[] }) =>
      warnings
        .filter((text) => text.includes('personal data'))
        .flatMap((text) => text.replace(/:.*/, '').split(', '))
        .toSorted()
    await scenario.sync()
    scenario.settings['personal_data'] = 'without_secrets'
    expect(startedOver(await scenario.sync())).toEqual(names)
    expect(scenario.differences()).toEqual([])
    scenario.settings['privacy_key'] = PRIVACY_KEY
    scenario.settings['personal_data'] = 'pseudonymised'
    // Its references have other keys now: the old ones are deleted.
    expect(startedOver(await scenario.sync())).toEqual(names)
    expect(scenario.differences()).toEqual([])
    expect((await scenario.sync()).warnings).toEqual([])
  })

  it('in the order of its external references has no effect', async () => {
    const { settings, sync } = await start(['people', 'clockings'])
    const references = [
      { collection: 'people', names: ['@employee-number', 'payroll'] },
      { collection: 'terminals', names: ['site'] },
    ]
    settings['external_references'] = references
    await sync()
    settings['external_references'] = references
      .map(({ collection, names }) => ({ collection, names: names.toReversed() }))
      .toReversed()
    expect((await sync()).warnings).toEqual([])
  })

  it('in its activity structures starts over, and drops the rows of the others', async () => {
    const scenario = await start(['activity_definitions'])
    await scenario.sync()
    const [first] = scenario.emulator.activityStructures
    scenario.settings['activity_structures'] = [first]
    const { warnings, deleted, records } = await scenario.sync()
    expect(warnings).toEqual([expect.stringContaining('activity structures')])
    const kept = scenario.emulator
      .all('activity-definitions')
      .filter(({ level }) => level === first?.level)
    expect(records.length - deleted.length).toBe(kept.length)
    expect(deleted.length).toBe(16 - kept.length)
  })

  it('to an earlier start date starts over, and reads the days before', async () => {
    const scenario = await start(['clockings'], { people: 0 })
    const { emulator, settings, sync } = scenario
    settings['start_date'] = '2026-01-01'
    emulator.insert('clockings', { date: '2026-02-02' })
    emulator.insert('clockings', { date: '2024-02-02' })
    expect((await sync()).records.map(({ id }) => id)).toEqual([1])
    settings['start_date'] = '2024-01-01'
    const { warnings, records } = await sync()
    expect(warnings).toEqual([expect.stringContaining('moved back from 2026-01-01 to 2024-01-01')])
    expect(records.map(({ id }) => id).toSorted()).toEqual([1, 2])
  })

  it('to a later start date deletes the days before it', async () => {
    const { emulator, settings, sync, differences } = await start(['clockings'], { people: 0 })
    settings['start_date'] = '2024-01-01'
    emulator.insert('clockings', { date: '2026-02-02' })
    emulator.insert('clockings', { date: '2024-02-02' })
    await sync()
    settings['start_date'] = '2026-06-01'
    emulator.update('clockings', 1)
    const { warnings, deleted } = await sync()
    expect(warnings).toEqual([])
    expect(new Set(deleted)).toEqual(new Set([1, 2]))
    expect(differences()).toEqual([])
  })

  it('of the default start date on 1 January removes no day', async () => {
    const { emulator, sync, differences } = await start(['clockings'], {
      people: 0,
      now: '2026-12-30T03:00:00Z',
    })
    emulator.insert('clockings', { date: '2025-02-02' })
    emulator.insert('clockings', { date: '2025-03-03' })
    emulator.insert('clockings', { date: '2026-06-06' })
    await sync()
    emulator.remove('clockings', 2)
    emulator.advance({ days: 5 })
    const { deleted } = await sync()
    expect(deleted).toEqual([2])
    expect(differences()).toEqual([])
  })
})
