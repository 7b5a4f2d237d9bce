import fc from 'fast-check'
import { describe, it } from 'vitest'
import type { EmulatorOptions } from '../../emulator/emulator.ts'
import { type Limit, limitOf, mostOf } from '../../src/ground/limit.ts'
import { DAY_MS, runSettings } from './property.ts'
import { type Scenario, startScenario } from './scenario.ts'

/** Streams that are read by delta and by lists, with and without days; each has a row of every second person. */
const STREAMS = ['people', 'contracts', 'department_histories', 'clockings'] as const
const COLLECTIONS = { people: 'people', contracts: 'contracts', clockings: 'clockings' } as const
const PEOPLE = 24
const DAYS = ['2024-03-01', '2025-06-01', '2026-09-15', '2026-11-18']

const changes = fc.record({
  collection: fc.constantFrom<keyof typeof COLLECTIONS>('people', 'contracts', 'clockings'),
  kind: fc.constantFrom('insert', 'update', 'update', 'remove'),
  row: fc.nat(60),
})

const syncs = fc.record({
  changes: fc.array(changes, { maxLength: 3 }),
  hours: fc.constantFrom(1, 1, 25, 73, 400),
  /** Whom the client no longer sees: the people with an even number, the others, or nobody. */
  hidden: fc.constantFrom('none', 'none', 'even', 'odd'),
  killAfter: fc.oneof(fc.constant(0), fc.constant(0), fc.integer({ min: 1, max: 60 })),
  auditDays: fc.constantFrom(0, 1, 7),
  startDate: fc.constantFrom('2024-01-01', '2024-01-01', '2025-06-01', '2026-09-01'),
  retainMonths: fc.constantFrom([], [], [{ months: 1 }], [{ stream: 'clockings', months: 20 }]),
  maxMissing: fc.constantFrom('0', '20%'),
})

const stories = fc.record({
  options: fc.record({
    pageSize: fc.constantFrom(5, 10, 100),
    deltaPageSize: fc.constantFrom(0, 2),
    usedDeltaLink: fc.constantFrom('answers', 'gone'),
    deltaFilterBound: fc.boolean(),
  }) satisfies fc.Arbitrary<EmulatorOptions>,
  /** Whether every sync sees everybody. */
  areAllSeen: fc.boolean(),
  syncs: fc.array(syncs, { minLength: 2, maxLength: 8 }),
})
type Story = typeof stories extends fc.Arbitrary<infer T> ? T : never

async function play({ options, areAllSeen, syncs }: Story): Promise<void> {
  const scenario = await startScenario(STREAMS, { ...options, people: PEOPLE, months: 0 })
  const { emulator, settings } = scenario
  /** With a percentage, a few may be missing without an alarm, so that no more may be removed. */
  let removed = 0
  let mayAlarm = false
  try {
    for (const date of DAYS)
      for (let id = 1; id <= PEOPLE; id++) emulator.insert('clockings', { date, person: { id } })
    Object.assign(settings, { start_date: '2024-01-01', future_days: 730 })
    await scenario.sync()
    for (const { changes, hours, killAfter, ...rest } of syncs) {
      const hidden = areAllSeen ? 'none' : rest.hidden
      const maxMissing = areAllSeen ? '20%' : rest.maxMissing
      emulator.advance({ hours })
      for (const { collection, kind, row } of changes) {
        const all = emulator.all(collection)
        const { id } = all[row % all.length] as { id: number }
        if (kind === 'insert') emulator.insert(collection, { date: DAYS[row % DAYS.length] })
        else if (kind === 'update') emulator.update(collection, id)
        else if (removed++ < 4) emulator.remove(collection, id)
      }
      Object.assign(settings, {
        audit_days: rest.auditDays,
        start_date: rest.startDate,
        retain_months: rest.retainMonths,
        max_missing: maxMissing,
      })
      mayAlarm ||= hidden !== 'none' || maxMissing === '0'
      const isHidden = (person: number) =>
        hidden !== 'none' && (person % 2 === 0) === (hidden === 'even')
      const before = livingRows(scenario)
      const most = mostLost(scenario, limitOf(maxMissing))
      emulator.hide(isHidden)
      const { errors } = await scenario.sync({ killAfter, kept: 'committed' })
      refuse([...lost(before, most, scenario), ...errors.filter((text) => !isAlarm(text))])
      if (!mayAlarm) refuse(errors)
    }
    emulator.hide(() => false)
    Object.assign(settings, { audit_days: 0, history_refresh_days: 1, max_missing: '100%' })
    // No audit is needed if everybody was always seen.
    for (let i = 0; i < 2 && !mayAlarm; i++) {
      emulator.advance({ hours: 30 })
      refuse((await scenario.sync({ kept: 'committed' })).errors)
    }
    if (!mayAlarm) refuse(scenario.differences())
    settings['audit_days'] = 1
    // The first of them may have to begin anew, and the next one may take its list for an old one.
    for (let i = 0; i < 4; i++) {
      emulator.advance({ hours: 30 })
      refuse((await scenario.sync({ kept: 'committed' })).errors)
    }
    refuse([...scenario.differences(), ...tooOld(scenario)])
  } finally {
    await emulator.close()
  }
}

function isAlarm(text: string): boolean {
  return /were not found by a complete read|could not be looked for again/.test(text)
}

/** The rows of a warehouse that live in the service, whoever sees them. */
function livingRows({ platform, emulator }: Scenario): Set<string> {
  const [warehouse] = platform.warehouses
  const found = STREAMS.flatMap((stream) => {
    const living = new Set(emulator.all(stream.replace('_', '-')).map(({ id }) => String(id)))
    const keys = [...(warehouse?.rows(stream).keys() ?? [])]
    return keys.filter((key) => living.has(key)).map((key) => `${stream} ${key}`)
  })
  return new Set(found)
}

/** How many rows of each stream a sync may delete because it does not see them. */
function mostLost({ platform }: Scenario, limit: Limit): ReadonlyMap<string, number> {
  const rowsOf = (stream: string) => platform.warehouses[0]?.rows(stream).size ?? 0
  return new Map(STREAMS.map((stream) => [stream, mostOf(rowsOf(stream), limit)]))
}

/** What a sync has deleted although it lives, on a day that is kept, of streams of which that is more than it may. */
function lost(
  before: ReadonlySet<string>,
  most: ReadonlyMap<string, number>,
  scenario: Scenario,
): string[] {
  const now = livingRows(scenario)
  const first = scenario.platform.stateOf('clockings')?.start ?? ''
  const days = new Map(scenario.emulator.all('clockings').map(({ id, date }) => [String(id), date]))
  const missing = [...before]
    .filter((row) => !now.has(row))
    .filter((row) => {
      const [stream, key = ''] = row.split(' ')
      return stream !== 'clockings' || String(days.get(key)) >= first
    })
  const countOf = (stream = '') => missing.filter((row) => row.startsWith(`${stream} `)).length
  return missing
    .filter((row) => {
      const [stream = ''] = row.split(' ')
      return countOf(stream) > (most.get(stream) ?? 0)
    })
    .map((row) => `${row} lives, was in the warehouse, and is not there now`)
}

/** Rows of days that are no longer kept. */
function tooOld({ platform }: Scenario): string[] {
  const first = platform.stateOf('clockings')?.start ?? ''
  return [...(platform.warehouses[0]?.rows('clockings').values() ?? [])]
    .filter(({ date }) => String(date) < first)
    .map(({ id, date }) => `clockings ${id} of ${date} is older than ${first}`)
}

function refuse(faults: readonly string[]): void {
  if (faults.length > 0) throw new Error(faults.join('\n'))
}

describe('in-process', () => {
  it('rights that come and go delete nothing that lives, and days leave that are not kept', {
    timeout: DAY_MS,
  }, async () => {
    const { runs, path, endOnFailure } = runSettings(12)
    await fc.assert(fc.asyncProperty(stories, play), {
      numRuns: runs,
      endOnFailure,
      ...(path === undefined ? {} : { path }),
    })
  })
})
