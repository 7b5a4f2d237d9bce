import fc from 'fast-check'
import { changesBehindPage, events, type Focus, rowChanges } from './arbitrary-events.ts'
import {
  attempts,
  broken,
  changedBehindPage,
  deadRefresh,
  firstLoad,
  laterColumns,
  oddRows,
  olderVersion,
  refused,
  resumed,
  wrongOnce,
} from './arbitrary-incidents.ts'
import { configure, configureGently, thereAndBack } from './arbitrary-settings.ts'
import { type Event, type Fault, type Place, QUIET, type Step, type Sync } from './history.ts'

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
  )
  // Whatever starts a stream over later would find the rows that are hidden.
  const end = fc.oneof(
    { weight: 2, arbitrary: fc.constant<Step[]>([]) },
    { weight: 1, arbitrary: firstLoad(focus) },
  )
  const parts = fc.array(part, { minLength: 2, maxLength: 9 })
  return fc.tuple(parts, end).map(([before, last]) => [...before.flat(), ...last])
}
