import fc from 'fast-check'
import type { ReferenceChoice } from '../../src/config/config.ts'
import type { PrivacyMode } from '../../src/privacy/privacy-settings.ts'
import { changesBehindPage, events, type Focus, rowChanges } from './arbitrary-events.ts'
import type { Place } from './history.ts'
import type { Event, Fault, Kept, Setting, Size, Step, Sync } from './step.ts'

const people = { collection: 'people', names: ['@employee-number', 'payroll'] }
const shifts = { collection: 'shift-definitions', names: ['@shift-code'] }
const choices = fc.constantFrom<ReferenceChoice[]>(
  [],
  [{ collection: 'people', names: ['payroll'] }],
  [people],
  [people, shifts],
  // In another order.
  [shifts, { collection: 'people', names: ['payroll', '@employee-number'] }],
)
const startDate = fc.constantFrom(undefined, '2024-06-01', '2024-01-01', '2023-02-15', '2026-03-01')
const refreshDays = fc.constantFrom(0, 1, 2, 7)
const windowDays = fc.constantFrom(365, 365, 100, 50, 20)
const futureDays = fc.constantFrom(730, 30, 0)
const concurrency = fc.constantFrom(1, 1, 1, 1, 1, 1, 2, 4)
const atRequest = fc.integer({ min: 1, max: 14 })

/** Not the one under which a stream is not offered. */
const personalData = fc.constantFrom<PrivacyMode>('complete', 'without_secrets', 'pseudonymised')

/** The configuration of the first sync. */
export const settings = fc.record({
  start_date: startDate,
  external_references: choices,
  personal_data: personalData,
  history_refresh_days: refreshDays,
  window_days: windowDays,
  future_days: futureDays,
  concurrency,
})

/** Without waits of seconds, which the executable would really wait. */
const kinds = {
  executable: ['html', 410, 404, 401] as const,
  'in-process': [
    ...(['reset', 'truncate', 'half-then-reset', 'after-last-byte', 'slow', 'html'] as const),
    ...([400, 401, 403, 404, 409, 410, 429, 500, 503] as const),
  ],
}

const paths: readonly Fault['path'][] = [
  'token',
  ...(['list', 'list', 'list'] as const),
  ...(['delta', 'delta', 'delta'] as const),
  ...['people', 'jobs', 'terminals'].map((references) => ({ references })),
]

function faults(place: Place, { stream }: Focus): fc.Arbitrary<Fault> {
  return fc.record({
    kind: fc.constantFrom(...kinds[place]),
    path: fc.constantFrom(...paths),
    stream,
    skip: fc.nat(4),
    times: fc.constantFrom(1, 1, 1, 2, 4),
  })
}

function syncs(place: Place, focus: Focus): fc.Arbitrary<Sync> {
  const isFew = place === 'executable' || focus.disruption === 0
  const event = fc.record({ atRequest, event: events(focus) })
  const requests = fc.array(atRequest, { minLength: 4, maxLength: 4 })
  return fc.record({
    do: fc.constant('sync' as const),
    during: fc.oneof(
      fc.array(event, { maxLength: 4 }),
      fc.tuple(rowChanges(focus), requests).map(inTurn),
      changesBehindPage(focus),
    ),
    faults: fc.oneof(
      { weight: isFew ? 6 : 2, arbitrary: fc.constant([]) },
      { weight: 1, arbitrary: fc.array(faults(place, focus), { minLength: 1, maxLength: 2 }) },
    ),
    killAfter: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 60 })),
    kept: fc.constantFrom('everything', 'committed'),
  })
}

function inTurn([events, requests]: readonly [Event[], number[]]): Sync['during'] {
  const rising = [...requests].sort((a, b) => a - b)
  return events.map((event, i) => ({ atRequest: rising[i] ?? 1, event }))
}

const undisturbed: Sync = { do: 'sync', during: [], faults: [], killAfter: 0, kept: 'committed' }
const quiet = fc.constant(undisturbed)

/** What must not make a stream start over. */
const gentle: fc.Arbitrary<Setting> = fc.oneof(
  fc.record({ set: fc.constant('history_refresh_days' as const), to: refreshDays }),
  fc.record({ set: fc.constant('window_days' as const), to: windowDays }),
  fc.record({ set: fc.constant('window_days' as const), to: windowDays }),
  fc.record({ set: fc.constant('future_days' as const), to: futureDays }),
  fc.record({ set: fc.constant('concurrency' as const), to: concurrency }),
)

const setting: fc.Arbitrary<Setting> = fc.oneof(
  fc.record({ set: fc.constant('external_references' as const), to: choices }),
  fc.record({ set: fc.constant('start_date' as const), to: startDate }),
  fc.record({ set: fc.constant('personal_data' as const), to: personalData }),
  gentle,
)

const configure: fc.Arbitrary<Step> = fc.record({ do: fc.constant('configure'), setting })
const configureGently: fc.Arbitrary<Step> = fc.record({
  do: fc.constant('configure'),
  setting: gentle,
})

const rewind: fc.Arbitrary<Step> = fc.record({
  do: fc.constant('rewind'),
  syncs: fc.integer({ min: 1, max: 3 }),
  isKept: fc.boolean(),
})

/** A row that has been read vanishes, or moves, and is back behind the page that is being read. */
function changedBehindPage(focus: Focus): fc.Arbitrary<Step[]> {
  return changesBehindPage(focus).map((during) => [undisturbed, { ...undisturbed, during }])
}

/** A large page breaks while it is emitted, and a row of it is gone when it is requested again. */
function broken({ stream, pick, day }: Focus): fc.Arbitrary<Step[]> {
  return fc
    .record({
      stream,
      pick,
      day,
      path: fc.constantFrom('list', 'delta'),
      kind: fc.constantFrom('truncate', 'half-then-reset'),
      skip: fc.nat(1),
    })
    .map(({ stream, pick, day, skip, ...fault }) => {
      const insert = (size: Size): Step => ({
        do: 'change',
        change: { kind: 'insert', stream, pick, day, size },
      })
      const gone: Event = { do: 'change', change: { kind: 'remove', stream, pick } }
      const sync: Step = {
        ...undisturbed,
        // The token, the pages before, the page itself, and then the page again.
        during: [{ atRequest: skip + 3, event: gone }],
        faults: [{ ...fault, stream, skip, times: 1 }],
      }
      return [insert('small'), insert('large'), sync]
    })
}

/** A sync dies in the middle of a reading, things change, and the next one continues. */
function resumed(focus: Focus): fc.Arbitrary<Step[]> {
  return fc
    .record({
      killAfter: fc.integer({ min: 3, max: 14 }),
      kept: fc.constantFrom<Kept>('everything', 'committed'),
      changes: fc.array(events(focus), { maxLength: 3 }),
      setting: fc.option(gentle, { freq: 2 }),
    })
    .map(({ killAfter, kept, changes, setting }): Step[] => [
      { ...undisturbed, killAfter, kept },
      ...changes,
      ...(setting === null ? [] : [{ do: 'configure', setting } as const]),
      undisturbed,
    ])
}

/** A collection of references is refused for a few syncs, and back again. */
function refused(focus: Focus): fc.Arbitrary<Step[]> {
  return fc
    .record({
      references: fc.constantFrom('people', 'people', 'jobs', 'work-locations', 'circles'),
      kind: fc.constantFrom(400, 404, 409),
      times: fc.constantFrom(1, 99),
      changes: fc.array(events(focus), { minLength: 1, maxLength: 3 }),
    })
    .map(({ references, kind, times, changes }) => {
      const fault: Fault = { kind, path: { references }, stream: 0, skip: 0, times }
      const sync: Step = { ...undisturbed, faults: [fault] }
      return [undisturbed, ...changes.flatMap((change) => [sync, change]), undisturbed]
    })
}

const switchMode: fc.Arbitrary<Step> = fc.record({
  do: fc.constant('switch-mode'),
  stream: fc.nat(2),
  isCleared: fc.boolean(),
})

/** Steps of any kind, and the turns of a record with a sync after each. */
export function steps(place: Place, focus: Focus): fc.Arbitrary<Step[]> {
  const { disruption } = focus
  const sync = syncs(place, focus)
  const one = fc.oneof(
    { weight: 8, arbitrary: events(focus) },
    { weight: 6, arbitrary: sync },
    { weight: 2, arbitrary: quiet },
    { weight: disruption, arbitrary: rewind },
    { weight: 1, arbitrary: disruption > 0 ? configure : configureGently },
    { weight: disruption, arbitrary: switchMode },
  )
  // A process takes half a second where a sync in this process takes a twentieth.
  if (place === 'executable') return fc.array(one, { minLength: 2, maxLength: 6 })
  const mostlyQuiet = fc.oneof({ weight: 3, arbitrary: quiet }, { weight: 1, arbitrary: sync })
  const four = fc.array(mostlyQuiet, { minLength: 4, maxLength: 4 })
  const turns = fc
    .tuple(rowChanges(focus), four)
    .map(([events, syncs]) => events.flatMap((event, i): Step[] => [event, syncs[i] ?? event]))
  const part = fc.oneof(
    { weight: 16, arbitrary: one.map((step) => [step]) },
    { weight: 8, arbitrary: turns },
    { weight: 4, arbitrary: changedBehindPage(focus) },
    { weight: 4, arbitrary: resumed(focus) },
    { weight: 1, arbitrary: refused(focus) },
    { weight: 1 - disruption, arbitrary: broken(focus) },
  )
  return fc.array(part, { minLength: 2, maxLength: 10 }).map((parts) => parts.flat())
}
