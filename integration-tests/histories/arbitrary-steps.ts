import fc from 'fast-check'
import {
  changesBehindPage,
  events,
  type Focus,
  type OddMember,
  rowChanges,
} from './arbitrary-events.ts'
import { editsOfReadRows, farDates, refusedLists, reverted } from './arbitrary-services.ts'
import { configure, configureGently, gentle, thereAndBack } from './arbitrary-settings.ts'
import {
  type Change,
  type Event,
  type Fault,
  type Kept,
  type Place,
  QUIET,
  type Size,
  type Step,
  type Sync,
} from './history.ts'

const atRequest = fc.integer({ min: 1, max: 14 })

/** Whether the waits of a sync are real ones. */
export function isReal(place: Place): boolean {
  return place === 'executable' || place === 'duckdb'
}

/** Without waits of seconds, which would really be waited. */
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
    kind: fc.constantFrom(...kinds[isReal(place) ? 'executable' : 'in-process']),
    path: fc.constantFrom(...paths),
    stream,
    skip: fc.nat(4),
    times: fc.constantFrom(1, 1, 1, 2, 4),
  })
}

/** An answer that looks right and is not whole, or a delta that is not offered for a moment. */
function wrongLists({ stream }: Focus): fc.Arbitrary<Fault> {
  const [skip, times] = [fc.nat(4), fc.constant(1)]
  const wrong = fc.constantFrom('short', 'empty', 'stale')
  const list = fc.constant('whole-list' as const)
  const refusal = fc.constantFrom('stale' as const, 404 as const, 405 as const)
  const start = fc.constant('delta-start' as const)
  return fc.oneof(
    { weight: 2, arbitrary: fc.record({ kind: wrong, path: list, stream, skip, times }) },
    {
      weight: 1,
      arbitrary: fc.record({ kind: refusal, path: start, stream, skip: fc.constant(0), times }),
    },
  )
}

function syncs(place: Place, focus: Focus): fc.Arbitrary<Sync> {
  const isFew = isReal(place) || focus.disruption === 0
  const event = fc.record({ atRequest, event: events(focus) })
  const requests = fc.array(atRequest, { minLength: 4, maxLength: 4 })
  return fc.record({
    do: fc.constant('sync' as const),
    during: fc.oneof(
      fc.array(event, { maxLength: 4 }),
      fc.tuple(rowChanges(focus), requests).map(inTurn),
      changesBehindPage(focus),
      editsOfReadRows(focus),
    ),
    faults: fc.oneof(
      { weight: isFew ? 6 : 2, arbitrary: fc.constant([]) },
      { weight: 1, arbitrary: fc.array(faults(place, focus), { minLength: 1, maxLength: 2 }) },
      { weight: 1, arbitrary: wrongLists(focus).map((fault) => [fault]) },
    ),
    killAfter: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 60 })),
    kept: fc.constantFrom('everything', 'committed'),
  })
}

function inTurn([events, requests]: readonly [Event[], number[]]): Sync['during'] {
  const rising = [...requests].sort((a, b) => a - b)
  return events.map((event, i) => ({ atRequest: rising[i] ?? 1, event }))
}

const quiet = fc.constant(QUIET)

const rewind: fc.Arbitrary<Step> = fc.record({
  do: fc.constant('rewind'),
  syncs: fc.integer({ min: 1, max: 3 }),
  isKept: fc.boolean(),
})

const switchMode: fc.Arbitrary<Step> = fc.record({
  do: fc.constant('switch-mode'),
  stream: fc.nat(2),
  isCleared: fc.boolean(),
})

/** For a while the configuration is of the tenant of the same name elsewhere, and maybe of another stream. */
const elsewhere: fc.Arbitrary<Step[]> = fc
  .boolean()
  .map((isOther) => [
    { do: 'environment', domain: 'sandbox.time.test', isOther },
    QUIET,
    { do: 'environment', domain: undefined, isOther: false },
  ])

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
  if (place === 'duckdb') {
    const part = fc.oneof(
      { weight: 12, arbitrary: one.map((step) => [step]) },
      { weight: 4, arbitrary: turns },
      { weight: 4, arbitrary: wrongOnce(focus) },
      { weight: 4, arbitrary: thereAndBack(one) },
      { weight: 6, arbitrary: oddRows(focus) },
      { weight: 1, arbitrary: elsewhere },
      { weight: 4, arbitrary: refusedLists() },
      { weight: 1, arbitrary: farDates(mostlyQuiet) },
    )
    return fc.array(part, { minLength: 2, maxLength: 4 }).map((parts) => parts.flat())
  }
  const part = fc.oneof(
    { weight: 16, arbitrary: one.map((step) => [step]) },
    { weight: 8, arbitrary: turns },
    { weight: 4, arbitrary: changedBehindPage(focus) },
    { weight: 4, arbitrary: resumed(focus) },
    { weight: 1, arbitrary: refused(focus) },
    { weight: 4, arbitrary: wrongOnce(focus) },
    { weight: 4 * disruption, arbitrary: deadRefresh(focus) },
    { weight: 3 * disruption, arbitrary: attempts(one, focus) },
    { weight: 6 * disruption, arbitrary: thereAndBack(one) },
    { weight: 2 * disruption, arbitrary: olderVersion(one, focus) },
    { weight: 2 * disruption, arbitrary: laterColumns(focus) },
    { weight: 1 - disruption, arbitrary: broken(focus) },
    { weight: 2, arbitrary: reverted(focus) },
    { weight: 4, arbitrary: refusedLists() },
    { weight: 1, arbitrary: farDates(mostlyQuiet) },
  )
  // Whatever starts a stream over later would find the rows that are hidden.
  const end = fc.oneof(
    { weight: 2, arbitrary: fc.constant<Step[]>([]) },
    { weight: 1, arbitrary: firstLoad(focus) },
  )
  const parts = fc.array(part, { minLength: 2, maxLength: 9 })
  return fc.tuple(parts, end).map(([before, last]) => [...before.flat(), ...last])
}

/**
 * A stream that has been read is read whole once more, by a list that is wrong once while nothing else happens:
 * what it does not show lives. A list of the next sync, by which that may be confirmed, is wrong once as well, or not;
 * or other lists of the same sync are refused.
 */
function wrongOnce({ stream }: Focus): fc.Arbitrary<Step[]> {
  const list = fc.record({
    kind: fc.constantFrom('short', 'empty'),
    path: fc.constantFrom('list', 'whole-list'),
  })
  // No later change tells of what a page of a delta's first phase had in an old version.
  const copy = fc.record({ kind: fc.constant('stale'), path: fc.constant('whole-list') } as const)
  const refusal = fc.constantFrom(404, 405)
  const start = fc.record({ kind: refusal, path: fc.constant('delta-start' as const) })
  const fault: fc.Arbitrary<Pick<Fault, 'kind' | 'path'>> = fc.oneof(
    { weight: 3, arbitrary: list },
    { weight: 1, arbitrary: copy },
    { weight: 1, arbitrary: start },
  )
  return fc
    .record({
      stream,
      fault,
      skip: fc.constantFrom(0, 0, 1, 2),
      isNew: fc.boolean(),
      again: fc.array(list, { maxLength: 1 }),
      refused: fc.constantFrom(null, null, 403 as const, 404 as const, 500 as const),
      times: fc.constantFrom(1, 99),
    })
    .map(({ stream, fault, skip, isNew, again, refused, times }): Step[] => {
      const one: Fault = {
        ...fault,
        stream,
        skip: fault.path === 'delta-start' ? 0 : skip,
        times: 1,
      }
      // One of tomorrow, so that a copy that lags behind lacks it.
      const insert: Change = { kind: 'insert', stream, pick: 0, day: 40, size: 'small' }
      return [
        ...(isNew ? [{ do: 'change', change: insert } as const] : []),
        QUIET,
        // The delta has ended, so that it is read whole as well.
        { do: 'advance', hours: 80 },
        {
          ...QUIET,
          faults:
            refused === null
              ? [one]
              : [one, { kind: refused, path: 'whole-list', stream, skip: 0, times }],
        },
        ...again.map(({ kind }): Step => {
          const path = 'whole-list'
          return { ...QUIET, faults: [{ kind, path, stream, skip: 0, times: 1 }] }
        }),
      ]
    })
}

/**
 * Rows are read for the first time, by the first phase of a delta that begins anew, while a row leaves that it has read:
 * where pages are counted by rows, that hides another one. A second row could hide the same one from the second look.
 */
function firstLoad({ stream, pick, day }: Focus): fc.Arbitrary<Step[]> {
  return fc
    .record({ stream, pick, day, atRequest: fc.integer({ min: 3, max: 8 }) })
    .map(({ stream, pick, day, atRequest }): Step[] => {
      const insert: Step = {
        do: 'change',
        change: { kind: 'insert', stream, pick, day, size: 'small' },
      }
      const gone: Event = { do: 'change', change: { kind: 'remove', stream, pick } }
      const rows = [insert, insert, insert, insert]
      const during = [{ atRequest, event: gone }]
      return [{ do: 'advance', hours: 80 }, ...rows, { ...QUIET, during }]
    })
}

/** A record gets what it should not have, is read, and gets something else, or another record gets it. */
function oddRows({ stream, pick, odd }: Focus): fc.Arbitrary<Step[]> {
  return fc
    .record({ stream, pick, other: pick, first: odd, second: odd, isSame: fc.boolean() })
    .map(({ stream, pick, other, first, second, isSame }): Step[] => {
      const change = (at: number, what: OddMember): Step => ({
        do: 'change',
        change: { kind: 'odd', stream, pick: at, ...what },
      })
      const member = isSame ? first.member : second.member
      return [change(pick, first), QUIET, change(other, { ...second, member }), QUIET]
    })
}

/** Columns are selected after a row was read without them. */
function laterColumns({ stream, pick, day }: Focus): fc.Arbitrary<Step[]> {
  const without = fc.array(fc.nat(30), { minLength: 2, maxLength: 6 })
  return fc.record({ stream, pick, day, without }).map(({ stream, pick, day, without }): Step[] => {
    const insert: Change = { kind: 'insert', stream, pick, day, size: 'small' }
    return [
      { do: 'columns', stream, without },
      ...[{ do: 'change', change: insert } as const, QUIET],
      ...[{ do: 'columns', stream, without: [] } as const, QUIET],
    ]
  })
}

/** For a while the connector is of a version that does not know a field yet. */
function olderVersion(others: fc.Arbitrary<Step>, { stream }: Focus): fc.Arbitrary<Step[]> {
  return fc
    .record({ stream, field: fc.nat(30), meanwhile: fc.array(others, { maxLength: 2 }) })
    .map(({ stream, field, meanwhile }): Step[] => [
      { do: 'configure', setting: { set: 'personal_data', to: 'pseudonymised' } },
      { do: 'version', stream, field },
      ...[QUIET, ...meanwhile, QUIET],
      ...[{ do: 'version', stream, field: null } as const, QUIET],
    ])
}

/** A full refresh meets a continuation token that is dead, while rows come and go. */
function deadRefresh({ stream, pick, day }: Focus): fc.Arbitrary<Step[]> {
  return fc
    .record({
      stream,
      pick,
      day,
      atRequest: fc.integer({ min: 2, max: 8 }),
      status: fc.constantFrom(400, 409, 410),
      kind: fc.constantFrom('update', 'remove', 'insert'),
      killAfter: fc.oneof(fc.constant(0), fc.integer({ min: 3, max: 20 })),
    })
    .map(({ stream, pick, day, atRequest, status, kind, killAfter }): Step[] => {
      const change: Change =
        kind === 'insert' ? { kind, stream, pick, day, size: 'small' } : { kind, stream, pick }
      const during: Sync['during'] = [
        { atRequest, event: { do: 'change', change } },
        { atRequest, event: { do: 'expire-continuations', status } },
      ]
      const turn: Step = { do: 'switch-mode', stream, isCleared: true }
      return [turn, { ...QUIET, during, killAfter, kept: 'everything' }, QUIET, turn]
    })
}

/** A job whose full refresh is cut off has further attempts, and things change between them, settings too. */
function attempts(others: fc.Arbitrary<Step>, { stream }: Focus): fc.Arbitrary<Step[]> {
  const between = fc.array(fc.oneof(others, configure), { maxLength: 2 })
  return fc
    .record({ stream, killAfter: fc.integer({ min: 3, max: 40 }), first: between, second: between })
    .map(({ stream, killAfter, first, second }): Step[] => {
      const turn: Step = { do: 'switch-mode', stream, isCleared: true }
      const cut: Step = { ...QUIET, killAfter, kept: 'everything' }
      return [turn, cut, ...first, QUIET, ...second, QUIET, turn]
    })
}

/** A row that has been read vanishes, or moves, and is back behind the page that is being read. */
function changedBehindPage(focus: Focus): fc.Arbitrary<Step[]> {
  return changesBehindPage(focus).map((during) => [QUIET, { ...QUIET, during }])
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
        ...QUIET,
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
      { ...QUIET, killAfter, kept },
      ...changes,
      ...(setting === null ? [] : [{ do: 'configure', setting } as const]),
      QUIET,
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
      const sync: Step = { ...QUIET, faults: [fault] }
      return [QUIET, ...changes.flatMap((change) => [sync, change]), QUIET]
    })
}
