import fc from 'fast-check'
import { describe, it } from 'vitest'
import type { Emulator, EmulatorOptions } from '../../emulator/emulator.ts'
import { DAY_MS, runSettings } from './property.ts'
import { startScenario } from './scenario.ts'

/** A change of one record of a collection, by its place among those that live. */
const changes = fc.record({
  collection: fc.constantFrom('jobs' as const, 'clockings' as const),
  kind: fc.constantFrom('insert', 'update', 'remove', 'return'),
  row: fc.nat(20),
  day: fc.constantFrom('2024-03-01', '2025-06-01', '2026-11-18', '2027-02-01'),
})
type Change = typeof changes extends fc.Arbitrary<infer T> ? T : never

const listOrder = fc.constantFrom('id', 'id', 'version', 'date', 'random')

const syncs = fc.record({
  /** The collection that has the content again of before so many changes, which no delta tells. */
  reverted: fc.option(
    fc.record({
      collection: fc.constantFrom('jobs' as const, 'clockings' as const),
      changes: fc.integer({ min: 1, max: 6 }),
    }),
    { freq: 3 },
  ),
  /** What happened since the last sync. */
  changes: fc.array(changes, { maxLength: 5 }),
  /** The collections of which a delta's answer, that after so many requests, lacks something. */
  silent: fc.subarray(['jobs', 'clockings']),
  skip: fc.nat(2),
  kind: fc.constantFrom('empty', 'short'),
  /** What happens while the sync reads, request by request. */
  during: fc.array(fc.option(changes), { maxLength: 12 }),
  killAfter: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 30 })),
  auditDays: fc.constantFrom(0, 1, 1, 2),
  hours: fc.constantFrom(1, 13, 25, 60),
})

const stories = fc.record({
  options: fc.record({
    pageSize: fc.constantFrom(1, 2, 5, 100),
    deltaPageSize: fc.constantFrom(0, 1, 2),
    usedDeltaLink: fc.constantFrom('answers', 'continues', 'gone'),
    leavingRow: fc.constantFrom('delete', 'update', 'nothing'),
    listOrder,
    paging: fc.constantFrom('key', 'offset', 'snapshot'),
    openRange: fc.constantFrom('to-today', 'refused'),
    deltaLinkCovers: fc.constantFrom('start', 'issued'),
    deltaLog: fc.boolean(),
    deltaOrder: fc.constantFrom('version', 'reversed'),
  }) satisfies fc.Arbitrary<EmulatorOptions>,
  settings: fc.record({
    start_date: fc.constantFrom('2024-01-01', '2025-03-01', '2026-01-01'),
    // No list shows what lies beyond, so nothing mends what a delta is silent about there.
    future_days: fc.constant(730),
    history_refresh_days: fc.constantFrom(0, 1, 7),
  }),
  first: fc.array(changes, { minLength: 3, maxLength: 15 }),
  syncs: fc.array(syncs, { minLength: 1, maxLength: 5 }),
})
type Story = typeof stories extends fc.Arbitrary<infer T> ? T : never

/** A copy that lags behind as a whole, or by a few changes from some page on. */
const lags = fc.oneof(
  fc.record({ changes: fc.integer({ min: 1, max: 40 }), skip: fc.constant(0) }),
  fc.record({ changes: fc.integer({ min: 1, max: 8 }), skip: fc.nat(9) }),
)

const lateStories = fc.record({
  options: fc.record({
    pageSize: fc.constantFrom(1, 2, 5, 100),
    deltaPageSize: fc.constantFrom(0, 1, 2),
    leavingRow: fc.constantFrom('delete', 'update'),
    listOrder,
    paging: fc.constantFrom('key', 'offset', 'snapshot'),
    deltaLog: fc.boolean(),
    staleDeletes: fc.boolean(),
  }) satisfies fc.Arbitrary<EmulatorOptions>,
  first: fc.array(changes, { minLength: 3, maxLength: 15 }),
  syncs: fc.array(
    fc.record({
      changes: fc.array(changes, { maxLength: 20 }),
      /** What happens while the sync reads, request by request. */
      during: fc.array(fc.option(changes), { maxLength: 8 }),
      lag: fc.option(lags),
      times: fc.constantFrom(3, 10, 1000),
      hours: fc.constantFrom(1, 25, 60),
    }),
    { minLength: 1, maxLength: 5 },
  ),
})
type LateStory = typeof lateStories extends fc.Arbitrary<infer T> ? T : never

async function play({ options, settings, first, syncs }: Story): Promise<void> {
  const scenario = await startScenario(['jobs', 'clockings'], { people: 0, ...options })
  const { emulator } = scenario
  try {
    Object.assign(scenario.settings, settings)
    // A row that stays: where none is met, a 404 for another does not say that it is gone.
    emulator.insert('jobs')
    emulator.insert('clockings', { date: '2026-11-18' })
    for (const change of first) happen(change, emulator)
    await scenario.sync()
    for (const { changes, silent, skip, kind, during, killAfter, auditDays, ...rest } of syncs) {
      emulator.advance({ hours: rest.hours })
      if (rest.reverted !== null) revert(rest.reverted, emulator)
      for (const change of changes) happen(change, emulator)
      for (const collection of silent)
        emulator.fault(`/delta/${collection}`, kind, { times: 1, skip })
      scenario.settings['audit_days'] = auditDays
      await scenario.sync({
        killAfter,
        kept: 'committed',
        onRequest: (n) => {
          const change = during[n]
          if (change) happen(change, emulator)
        },
      })
      emulator.clearFaults()
    }
    scenario.settings['audit_days'] = 1
    scenario.settings['history_refresh_days'] = 1
    // The first of them may have to begin anew, and the next one may take its list for an old one.
    for (let i = 0; i < 4; i++) {
      emulator.advance({ hours: 30 })
      const { errors } = await scenario.sync({ kept: 'committed' })
      if (errors.length > 0) throw new Error(errors.join('\n'))
    }
    const differences = scenario.differences()
    if (differences.length > 0) throw new Error(differences.join('\n'))
  } finally {
    await emulator.close()
  }
}

/** The deltas tell everything, and the lists of audits are old. */
async function playLate({ options, first, syncs }: LateStory): Promise<void> {
  const scenario = await startScenario(['jobs', 'clockings'], { people: 0, ...options })
  const { emulator } = scenario
  try {
    // No day is before the delta's window, so only audits list.
    Object.assign(scenario.settings, { start_date: '2026-01-01', future_days: 730, audit_days: 1 })
    for (const change of first) happen(change, emulator)
    await scenario.sync()
    // A list is no older than what the last complete reading met, or the last audit that found its list old.
    const since = { jobs: 0, clockings: 0 }
    for (const { changes, during, lag, times, hours } of syncs) {
      emulator.advance({ hours })
      for (const change of changes) {
        happen(change, emulator)
        since[change.collection]++
      }
      for (const collection of ['jobs', 'clockings'] as const) {
        const missed = Math.min(lag?.changes ?? 0, since[collection])
        if (lag === null || missed === 0) continue
        emulator.fault(`/${collection}`, 'stale', { ...lag, times, changes: missed })
        since[collection] = 0
      }
      const { errors } = await scenario.sync({
        onRequest: (n) => {
          const change = during[n]
          if (change) happen(change, emulator)
        },
      })
      emulator.clearFaults()
      // What happened behind the last answer of the delta the next one tells, without an audit.
      emulator.advance({ hours: 1 })
      const next = await scenario.sync()
      const wrong = [...errors, ...next.errors, ...scenario.differences()]
      if (wrong.length > 0) throw new Error(wrong.join('\n'))
    }
  } finally {
    await emulator.close()
  }
}

/** A row stays, as in the beginning. */
function revert(
  { collection, changes }: NonNullable<Story['syncs'][0]['reverted']>,
  emulator: Emulator,
): void {
  emulator.revert(collection, changes)
  if (emulator.all(collection).length === 0) emulator.insert(collection, { date: '2026-11-18' })
}

function happen({ collection, kind, row, day }: Change, emulator: Emulator): void {
  const [, ...all] = emulator.all(collection)
  const id = all[row % Math.max(1, all.length)]?.['id'] as number | undefined
  const fields = collection === 'jobs' ? { name: { default: day } } : { date: day }
  const gone = kind === 'return' ? firstGone(emulator, collection) : undefined
  if (gone !== undefined) emulator.insert(collection, { ...fields, id: gone })
  else if (kind === 'insert' || id === undefined) emulator.insert(collection, fields)
  else if (kind !== 'remove') emulator.update(collection, id, fields)
  else emulator.remove(collection, id)
}

/** The lowest id that a row has had which is gone. */
function firstGone(emulator: Emulator, collection: string): number | undefined {
  const ids = new Set(emulator.all(collection).map(({ id }) => Number(id)))
  for (let id = 1; id < Math.max(...ids); id++) if (!ids.has(id)) return id
  return undefined
}

describe('in-process', () => {
  it(
    'after an audit the warehouse equals the service, whatever the deltas kept silent about',
    {
      timeout: DAY_MS,
    },
    () => check(stories, play),
  )

  it(
    'an audit puts nothing back from lists that are older than what the deltas have told',
    {
      timeout: DAY_MS,
    },
    () => check(lateStories, playLate),
  )
})

async function check<T>(all: fc.Arbitrary<T>, play: (story: T) => Promise<void>): Promise<void> {
  const { runs, path, endOnFailure } = runSettings(16)
  await fc.assert(fc.asyncProperty(all, play), {
    numRuns: runs,
    endOnFailure,
    ...(path === undefined ? {} : { path }),
  })
}
