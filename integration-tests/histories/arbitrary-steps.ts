import fc from 'fast-check'
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
import { type OddMember, oddMembers } from './odd-members.ts'

/** What events are about: everything at once, or a few records of one stream again and again. */
export interface Focus {
  readonly stream: fc.Arbitrary<number>
  readonly pick: fc.Arbitrary<number>
  /** Days from now. */
  readonly day: fc.Arbitrary<number>
  /** How often something happens that makes a stream start over, which hides what came before. */
  readonly disruption: number
  readonly odd: fc.Arbitrary<OddMember>
}

/** Every stream; days in the delta's window, on both sides of its border, planned, long ago. */
export const wide: Focus = {
  stream: fc.nat(2),
  pick: fc.nat(3),
  day: fc.constantFrom(-2, -30, -300, -700, -700, -1000, -1400, 40),
  disruption: 1,
  odd: oddMembers,
}

/** One stream, a few of its records, and the two sides of the border. */
export const narrow: Focus = {
  stream: fc.constant(0),
  pick: fc.nat(2),
  day: fc.constantFrom(-30, -700),
  disruption: 0,
  odd: oddMembers,
}

/** One stream whose rows lie in several slices of its lists. */
export const long: Focus = {
  stream: fc.constant(0),
  pick: fc.nat(4),
  day: fc.constantFrom(-30, -700, -850, -950, -1040),
  disruption: 0,
  odd: oddMembers,
}

/** Records to begin with. */
export function inserts({ stream, pick, day }: Focus): fc.Arbitrary<Change> {
  const size: fc.Arbitrary<Size> = fc.oneof(
    { weight: 68, arbitrary: fc.constant('small' as const) },
    { weight: 11, arbitrary: fc.constant('medium' as const) },
    { weight: 1, arbitrary: fc.constant('large' as const) },
  )
  return fc.record({ kind: fc.constant('insert' as const), stream, pick, day, size })
}

function changes(focus: Focus): fc.Arbitrary<Change> {
  const { stream, pick, day, odd: members } = focus
  const move = fc.constant('move' as const)
  const kind = fc.constantFrom('update', 'remove', 'remove', 'soft-delete', 'restore')
  const odd = fc.constant('odd' as const)
  return fc.oneof(
    { weight: 4, arbitrary: inserts(focus) },
    {
      weight: 2,
      arbitrary: fc
        .tuple(fc.record({ kind: odd, stream, pick }), members)
        .map(([where, what]) => ({ ...where, ...what })),
    },
    { weight: 7, arbitrary: fc.record({ kind: move, stream, pick, day }) },
    { weight: 9, arbitrary: fc.record({ kind, stream, pick }) },
  )
}

export function events(focus: Focus): fc.Arbitrary<Event> {
  const { stream, pick, disruption } = focus
  const change = fc.constant('change' as const)
  const advance = fc.constant('advance' as const)
  const long = fc.constantFrom(-3, 50, 80, 24 * 45, 24 * 400)
  const deltas = fc.constantFrom('expire-delta', 'steal-delta')
  const continuations = fc.constant('expire-continuations' as const)
  const status = fc.constantFrom(400, 409, 410)
  const reference = fc.constant('reference' as const)
  return fc.oneof(
    { weight: 14, arbitrary: fc.record({ do: change, change: changes(focus) }) },
    { weight: 2, arbitrary: fc.record({ do: advance, hours: fc.constantFrom(1, 2, 25, 25) }) },
    { weight: 1, arbitrary: fc.constant({ do: 'expire-tokens' as const }) },
    { weight: 1, arbitrary: fc.record({ do: reference, pick, isRemoval: fc.boolean() }) },
    { weight: disruption, arbitrary: fc.record({ do: advance, hours: long }) },
    { weight: disruption, arbitrary: fc.record({ do: continuations, status }) },
    { weight: disruption, arbitrary: fc.record({ do: deltas, stream }) },
  )
}

/** What happens to one record and sometimes to another, which is where delete detection goes wrong. */
function rowChanges({ stream, pick, day }: Focus): fc.Arbitrary<Event[]> {
  const turn = fc.record({
    day: fc.option(day, { freq: 2 }),
    other: fc.option(pick, { freq: 2 }),
    isUpdate: mostlyNot(4),
  })
  return fc
    .record({ stream, pick, turns: fc.array(turn, { minLength: 2, maxLength: 4 }) })
    .map(({ stream, pick, turns }) => {
      let isThere = true
      return turns.map(({ day, other, isUpdate }): Event => {
        const record = { stream, pick: other ?? pick }
        if (isUpdate) return { do: 'change', change: { kind: 'update', ...record } }
        if (day !== null) return { do: 'change', change: { kind: 'move', day, ...record } }
        isThere = !isThere
        return { do: 'change', change: { kind: isThere ? 'restore' : 'remove', ...record } }
      })
    })
}

/** A row changes behind the page that is being read, and then another one before it. */
function changesBehindPage({ stream, pick, day }: Focus): fc.Arbitrary<Sync['during']> {
  return fc
    .record({
      stream,
      pick,
      isRemoved: fc.constantFrom(true, true, false),
      early: fc.integer({ min: 1, max: 2 }),
      later: fc.constantFrom(0, 0, 0, 1, 2, 4, 8),
      day: fc.option(day, { freq: 2 }),
      ahead: fc.integer({ min: 1, max: 3 }),
    })
    .map(({ stream, pick, isRemoved, early, later, day, ahead }) => {
      // In a list of pages of one, read first, the row has just passed at the earliest of these.
      const late = pick + 3 + later
      const behind: Change =
        day === null ? { kind: 'restore', stream, pick } : { kind: 'move', stream, pick, day }
      const before: Change = { kind: 'update', stream, pick: pick + ahead }
      const gone: Change = { kind: 'remove', stream, pick }
      return [
        ...(isRemoved
          ? [{ atRequest: early, event: { do: 'change', change: gone } as const }]
          : []),
        { atRequest: late, event: { do: 'change', change: behind } },
        { atRequest: late, event: { do: 'change', change: before } },
      ]
    })
}

/** True once in so many times. */
function mostlyNot(many: number): fc.Arbitrary<boolean> {
  return fc.nat(many - 1).map((n) => n === many - 1)
}

const atRequest = fc.integer({ min: 1, max: 14 })

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
    kind: fc.constantFrom(...kinds[place === 'executable' ? place : 'in-process']),
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
    { weight: 6 * disruption, arbitrary: thereAndBack(one) },
    { weight: 1 - disruption, arbitrary: broken(focus) },
  )
  return fc.array(part, { minLength: 2, maxLength: 10 }).map((parts) => parts.flat())
}
