import fc from 'fast-check'
import type { EmulatorOptions } from '../../emulator/emulator.ts'
import type { Change, Event, Fault, Setting, Step, Sync } from './step.ts'

/** What a history is about: the service, the configuration, and what happens. */
export interface History {
  readonly streams: readonly string[]
  readonly options: EmulatorOptions
  readonly settings: Readonly<Record<string, unknown>>
  /** Changes before the first sync. */
  readonly seeded: readonly Change[]
  readonly steps: readonly Step[]
}

/** Whether the syncs run in this process, or as processes whose waits and kills are real. */
export type Place = 'in-process' | 'executable'

const documented = [
  'clockings',
  'absences',
  'assignments',
  'activity_durations',
  'calculated_totals',
  'jobs',
  'contracts',
  'absence_groups',
  'people',
  'job_categories',
  'department_histories',
  'activity_definitions',
  'external_references',
]
const specified = [
  'access_clockings',
  'departments',
  'employers',
  'shift_definitions',
  'work_locations',
]

/** Days from now: in the delta's window, on both sides of its border, planned, long ago. */
const day = fc.constantFrom(-2, -30, -300, -700, -700, -1000, -1400, 40)
const stream = fc.nat(2)
// Few, so that one record sees a lot.
const pick = fc.nat(3)
const names = fc.constantFrom<string[]>([], ['payroll'], ['@employee-number', 'payroll'])
const startDate = fc.constantFrom(undefined, '2024-06-01', '2024-01-01', '2023-02-15', '2026-03-01')
const refreshDays = fc.constantFrom(0, 1, 2, 7)

const change: fc.Arbitrary<Change> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('insert' as const),
      stream,
      pick,
      day,
      isLarge: oneIn(25),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('move' as const), stream, pick, day }) },
  {
    weight: 9,
    arbitrary: fc.record({
      kind: fc.constantFrom('update', 'remove', 'remove', 'soft-delete', 'restore'),
      stream,
      pick,
    }),
  },
)

const event: fc.Arbitrary<Event> = fc.oneof(
  { weight: 14, arbitrary: fc.record({ do: fc.constant('change' as const), change }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('advance' as const),
      hours: fc.constantFrom(1, 25, 25, 50, 80, 24 * 45),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ do: 'expire-tokens' as const }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('expire-continuations' as const),
      status: fc.constantFrom(400, 409, 410),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constantFrom('expire-delta', 'steal-delta'), stream }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('reference' as const),
      pick,
      isRemoval: fc.boolean(),
    }),
  },
)

/** What happens to one record and sometimes to another, which is where accounts go wrong. */
const career: fc.Arbitrary<Event[]> = fc
  .record({
    stream,
    pick,
    turns: fc.array(fc.record({ day: fc.option(day), other: mostly(undefined, 3) }), {
      minLength: 2,
      maxLength: 4,
    }),
  })
  .map(({ stream, pick, turns }) =>
    turns.map(({ day, other = pick }, i): Event => {
      const subject = { stream, pick: other }
      if (day !== null) return { do: 'change', change: { kind: 'move', day, ...subject } }
      return { do: 'change', change: { kind: i % 2 === 0 ? 'remove' : 'restore', ...subject } }
    }),
  )

const kinds = {
  // Without waits of seconds, which the executable would really wait.
  executable: ['html', 410, 404, 401] as const,
  'in-process': [
    ...(['reset', 'truncate', 'half-then-reset', 'after-last-byte', 'slow', 'html'] as const),
    ...([400, 401, 403, 404, 409, 410, 429, 500, 503] as const),
  ],
}

function fault(place: Place): fc.Arbitrary<Fault> {
  return fc.record({
    kind: fc.constantFrom(...kinds[place]),
    path: fc.constantFrom('token', 'list', 'list', 'delta', 'delta'),
    stream,
    skip: fc.nat(4),
    times: fc.constantFrom(1, 1, 1, 2, 4),
  })
}

const atRequest = fc.integer({ min: 1, max: 14 })

function inTurn([events, requests]: readonly [Event[], number[]]): Sync['during'] {
  const rising = [...requests].sort((a, b) => a - b)
  return events.map((event, i) => ({ atRequest: rising[i] ?? 1, event }))
}

function sync(place: Place): fc.Arbitrary<Sync> {
  const rarely = place === 'executable' ? 6 : 2
  return fc.record({
    do: fc.constant('sync' as const),
    during: fc.oneof(
      fc.array(fc.record({ atRequest, event }), { maxLength: 4 }),
      fc.tuple(career, fc.array(atRequest, { minLength: 4, maxLength: 4 })).map(inTurn),
    ),
    faults: fc.oneof(
      { weight: rarely, arbitrary: fc.constant([]) },
      { weight: 1, arbitrary: fc.array(fault(place), { minLength: 1, maxLength: 2 }) },
    ),
    killAfter: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 60 })),
    kept: fc.constantFrom('everything', 'committed'),
  })
}

const quiet: fc.Arbitrary<Sync> = fc.constant<Sync>({
  do: 'sync',
  during: [],
  faults: [],
  killAfter: 0,
  kept: 'committed',
})

const setting: fc.Arbitrary<Setting> = fc.oneof(
  fc.record({ set: fc.constant('references' as const), names }),
  fc.record({ set: fc.constant('start' as const), date: startDate }),
  fc.record({ set: fc.constant('refresh' as const), days: refreshDays }),
)

const rewind: fc.Arbitrary<Step> = fc.record({
  do: fc.constant('rewind'),
  syncs: fc.integer({ min: 1, max: 3 }),
  isKept: fc.boolean(),
})

function steps(place: Place): fc.Arbitrary<Step[]> {
  const one = fc.oneof(
    { weight: 8, arbitrary: event },
    { weight: 6, arbitrary: sync(place) },
    { weight: 2, arbitrary: quiet },
    { weight: 1, arbitrary: rewind },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('configure' as const), setting }) },
  )
  const withSyncs = fc
    .tuple(career, fc.array(fc.oneof(quiet, sync(place)), { minLength: 4, maxLength: 4 }))
    .map(([events, syncs]) => events.flatMap((event, i): Step[] => [event, syncs[i] ?? event]))
  const single = one.map((step) => [step])
  // A process takes half a second where a sync in this process takes a twentieth.
  return place === 'executable'
    ? fc.array(one, { minLength: 2, maxLength: 6 })
    : fc
        .array(fc.oneof({ weight: 4, arbitrary: single }, { weight: 1, arbitrary: withSyncs }), {
          minLength: 2,
          maxLength: 10,
        })
        .map((parts) => parts.flat())
}

/** Every choice that the service leaves open, drawn. */
function options(place: Place): fc.Arbitrary<EmulatorOptions> {
  const isPatient = place === 'in-process'
  return fc.record({
    seed: fc.integer({ min: 1, max: 1000 }),
    now: fc.constantFrom('2026-11-20T03:00:00Z', '2026-12-30T22:00:00Z'),
    people: fc.constantFrom(0, 0, 2),
    months: fc.constant(0),
    pageSize: fc.constantFrom(1, 2, 3, 7, 100),
    deltaPageSize: fc.constantFrom(0, 1, 2),
    dialect: mostly('documentation', 'specification'),
    usedDeltaLink: fc.constantFrom('answers', 'gone', isPatient ? 'conflict' : 'answers'),
    deltaFilterBound: mostly(true, false),
    leavingRow: fc.constantFrom('delete', 'update', 'nothing'),
    secondStart: isPatient ? mostly('replaces', 'conflict') : fc.constant('replaces'),
    expiry: fc.constantFrom('last-use', 'age'),
    deltaLog: mostly(false, true),
    plainDeltaItems: mostly(false, true),
    compress: mostly(false, true),
  } satisfies {
    [K in keyof EmulatorOptions]: fc.Arbitrary<unknown>
  }) as fc.Arbitrary<EmulatorOptions>
}

/** Histories that are small enough to shrink well, and long enough to go wrong. */
export function histories(place: Place): fc.Arbitrary<History> {
  const few = { minLength: 2, maxLength: 3 }
  const drawn = fc.record({
    documented: fc.shuffledSubarray(documented, few),
    specified: fc.shuffledSubarray(specified, few),
    options: options(place),
    settings: fc.record({
      start_date: startDate,
      external_references: names.map(references),
      history_refresh_days: refreshDays,
      window_days: mostly(365, 100),
    }),
    seeded: fc.array(change, { maxLength: 14 }),
    steps: steps(place),
  })
  return drawn.map(({ documented, specified, ...rest }) => ({
    ...rest,
    streams: rest.options.dialect === 'specification' ? specified : documented,
  }))
}

/** The configuration that asks for these references of people. */
export function references(wanted: readonly string[]): object[] {
  return wanted.length === 0 ? [] : [{ collection: 'people', names: wanted }]
}

function oneIn(many: number): fc.Arbitrary<boolean> {
  return fc.nat(many - 1).map((n) => n === many - 1)
}

function mostly<T, U>(usual: T, other: U): fc.Arbitrary<T | U> {
  return fc.constantFrom<T | U>(usual, usual, usual, other)
}
