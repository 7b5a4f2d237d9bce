import fc, { type RunDetails } from 'fast-check'
import type { EmulatorOptions } from '../../emulator/emulator.ts'
import {
  type Focus,
  inserts,
  long,
  narrow,
  oddInDuckDb,
  unknownMembers,
  wide,
} from './arbitrary-events.ts'
import { editedReadings } from './arbitrary-services.ts'
import { settings } from './arbitrary-settings.ts'
import { isReal, steps } from './arbitrary-steps.ts'
import { type History, type Place, sentences } from './history.ts'
import { runHistory } from './run-history.ts'
import { runInDuckDb } from './run-in-duckdb.ts'

const dated = ['clockings', 'absences', 'assignments', 'activity_durations', 'calculated_totals']
const listed = [
  'job_categories',
  'sectors',
  'work_locations',
  'department_histories',
  'job_histories',
  'activity_definitions',
  'external_references',
]
const documented = [...dated, 'jobs', 'contracts', 'absence_groups', 'people', ...listed]
const specified = [
  'access_clockings',
  'departments',
  'employers',
  'shift_definitions',
  'work_locations',
]

const border = {
  dialect: 'documentation' as const,
  now: '2026-11-20T03:00:00Z',
  people: 0,
  deltaFilterBound: true,
}

/** What a history is made of: some of everything at once, or much of what is hard to get right. */
const kinds = ['anything', 'few-records', 'interrupted', 'edited'] as const
export type Kind = (typeof kinds)[number]

const few = { minLength: 2, maxLength: 3 }

/** Streams of which the first has columns of numbers, days and the like, which a warehouse has types for. */
const typed = fc
  .tuple(
    fc.constantFrom('contracts', 'contracts', 'activity_durations', 'clockings'),
    fc.shuffledSubarray(documented, { minLength: 1, maxLength: 2 }),
  )
  .map((streams) => [...new Set(streams.flat())])

const byKind: Readonly<Record<Kind, (place: Place) => fc.Arbitrary<Undecided>>> = {
  anything: (place) =>
    fc
      .record({
        documented: place === 'duckdb' ? typed : fc.shuffledSubarray(documented, few),
        specified: fc.shuffledSubarray(specified, few),
        // Seldom, because such a history takes as long as ten others.
        isCrowded: place === 'in-process' ? fc.nat(19).map((n) => n === 19) : fc.constant(false),
        ...parts(place, wide),
      })
      .map(({ isCrowded, ...rest }) => (isCrowded ? crowded(rest) : rest)),
  /** Changes of a few records again and again. */
  'few-records': (place) =>
    fc
      .record({
        first: fc.oneof(fc.constantFrom(...dated), fc.constantFrom(...listed)),
        second: fc.constantFrom('jobs', 'people'),
        pageSize: fc.constantFrom(1, 1, 2, 100),
        ...parts(place, narrow),
      })
      .map(({ first, second, ...rest }) => atBorder([first, second], rest)),
  /** Syncs that are cut off while they read lists of several slices. */
  interrupted: (place) =>
    fc
      .record({
        first: fc.oneof(fc.constantFrom(...dated), fc.constantFrom(...listed)),
        pageSize: fc.constantFrom(1, 1, 2),
        ...parts(place, long),
      })
      .map(({ first, ...rest }) => atBorder([first], rest)),
  /** Changes of rows that a page has had, while further ones are read. */
  edited: (place) =>
    fc
      .record({
        first: fc.oneof(
          { weight: 3, arbitrary: fc.constantFrom(...dated, 'jobs', 'people') },
          { weight: 1, arbitrary: fc.constantFrom(...listed) },
        ),
        pageSize: fc.constantFrom(1, 2, 3),
        ...parts(place, narrow),
        listOrder: fc.constantFrom('id', 'version', 'date', 'random'),
        seeded: fc.array(inserts(narrow), { minLength: 4, maxLength: 12 }),
        steps: editedReadings(narrow),
      })
      .map(({ first, listOrder, options, ...rest }) =>
        atBorder([first], { ...rest, options: { ...options, listOrder } }),
      ),
}

/** Histories that are small enough to shrink well, and long enough to go wrong. */
function histories(kind: Kind, place: Place): fc.Arbitrary<History> {
  return byKind[kind](place).map(({ documented, specified, ...rest }) => ({
    ...rest,
    options: { ...possible(rest, place), ...chosenOptions() },
    streams: rest.options.dialect === 'specification' ? specified : documented,
  }))
}

/** Options of the service that all histories have, in place of those that are drawn. */
function chosenOptions(): EmulatorOptions {
  return JSON.parse(process.env['HISTORIES_OPTIONS'] ?? '{}')
}

/** A history whose streams depend on the dialect that was parts for it. */
interface Undecided extends Omit<History, 'streams'> {
  readonly documented: readonly string[]
  readonly specified: readonly string[]
}

/** More references than the state has room for, beside what it keeps of a stream that is not read. */
function crowded({ documented, ...rest }: Undecided): Undecided {
  const options = { ...rest.options, dialect: 'documentation', people: 2, pageSize: 1000 } as const
  const others = documented.filter((stream) => stream !== 'external_references')
  return {
    ...rest,
    options,
    documented: ['external_references', ...others],
    crowd: { references: 600, kept: 1_985_000 },
  }
}

/** Puts the border of the delta where rows are on both sides. */
function atBorder(
  streams: readonly string[],
  {
    pageSize,
    options,
    settings,
    ...rest
  }: Omit<History, 'streams'> & { readonly pageSize: number },
): Undecided {
  return {
    ...rest,
    documented: streams,
    specified: [],
    options: { ...options, ...border, pageSize },
    settings: { ...settings, start_date: '2024-01-01' },
  }
}

/**
 * A full refresh of what has no list starts a delta, which a service that keeps the first refuses. And some questions
 * have no answer.
 */
function possible(
  { options, steps }: Pick<History, 'options' | 'steps'>,
  place: Place,
): EmulatorOptions {
  const isSwitched = steps.some((step) => step.do === 'switch-mode')
  // What a link does not cover only lists tell, and audits, for which histories into a file do not wait.
  const isCovered = options.dialect === 'specification' || place === 'duckdb'
  return {
    ...options,
    ...(isSwitched && { secondStart: 'replaces' }),
    ...(isCovered && { deltaLinkCovers: 'start' }),
    // Where an answer has no order, only versions say which of its items is the newest.
    ...(options.deltaOrder === 'reversed' && { staleDeletes: false }),
  }
}

function parts(place: Place, anywhere: Focus) {
  // A target of Singer refuses a record that does not fit its schema.
  const odd = { singer: unknownMembers, duckdb: oddInDuckDb }[place as string] ?? anywhere.odd
  const focus = { ...anywhere, odd }
  return {
    options: options(place),
    settings,
    seeded: fc.array(inserts(focus), { minLength: 2, maxLength: 8 }),
    steps: steps(place, focus),
  }
}

/** Every choice that the service leaves open. */
function options(place: Place): fc.Arbitrary<EmulatorOptions> {
  const isPatient = !isReal(place)
  return fc.record({
    seed: fc.integer({ min: 1, max: 1000 }),
    now: fc.constantFrom('2026-11-20T03:00:00Z', '2026-12-30T22:00:00Z', '2026-12-31T23:30:00Z'),
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
    netDelta: mostly(false, true),
    plainDeltaItems: mostly(false, true),
    staleDeletes: fc.boolean(),
    compress: mostly(false, true),
    listOrder: fc.constantFrom('id', 'id', 'id', 'version', 'date', 'random'),
    paging: fc.constantFrom('key', 'offset', 'snapshot'),
    openRange: mostly('to-today', 'refused'),
    deltaLinkCovers: mostly('start', 'issued'),
    deltaOrder: fc.constantFrom('version', 'reversed'),
    byteOrderMark: mostly(false, true),
    jsonSpelling: mostly('compact', 'varied'),
  } satisfies {
    [K in keyof EmulatorOptions]: fc.Arbitrary<unknown>
  }) as fc.Arbitrary<EmulatorOptions>
}

function mostly<T>(usual: T, other: T): fc.Arbitrary<T> {
  return fc.constantFrom(usual, usual, usual, other)
}

/** How many histories are run; see long-run.mjs and vitest.config.ts. */
export interface RunSettings {
  readonly runs: number
  /** Where a failing history is found below the seed. */
  readonly path: string | undefined
  /** Whether one that fails is told as it was drawn: to make it shorter takes minutes. */
  readonly endOnFailure: boolean
}

/**
 * A multiple of so many histories, or another number, or one of them: as the environment says. A quarter of them by
 * day, when they are the same each time.
 */
export function runSettings(usual: number, environment = process.env): RunSettings {
  const {
    HISTORIES_RUNS,
    HISTORIES_SCALE = '0.25',
    HISTORIES_PATH,
    HISTORIES_AS_DRAWN,
  } = environment
  const many = HISTORIES_RUNS ?? Math.ceil(usual * Number(HISTORIES_SCALE))
  return {
    runs: HISTORIES_PATH === undefined ? Number(many) : 1,
    path: HISTORIES_PATH,
    endOnFailure: HISTORIES_AS_DRAWN !== undefined,
  }
}

/** Long enough for thousands of histories, and for one that fails to be shortened. */
export const DAY_MS = 86_400_000

/**
 * Runs so many random histories of a kind. One that fails is made as short as possible and told,
 * with the command that replays it.
 */
export async function checkHistories(kind: Kind, place: Place, usual: number): Promise<void> {
  const { runs, path, endOnFailure } = runSettings(usual)
  const run = (history: History) =>
    place === 'duckdb' ? runInDuckDb(history) : runHistory(history, place)
  const property = fc.asyncProperty(histories(kind, place), path === undefined ? run : firstOf(run))
  const details = await fc.check(property, {
    numRuns: runs,
    endOnFailure,
    ...(path === undefined ? {} : { path }),
  })
  if (details.failed) throw new Error(report(details, kind, place))
}

/**
 * Runs the first history and, if it fails, those that are shorter. Otherwise none: below a path that was shortened there
 * are others beside the one that is meant.
 */
export function firstOf<T>(run: (one: T) => Promise<void>): (one: T) => Promise<void> {
  let isFirst = true
  let hasFailed = false
  return async (one) => {
    if (!isFirst && !hasFailed) return
    isFirst = false
    try {
      await run(one)
    } catch (error) {
      hasFailed = true
      throw error
    }
  }
}

function report(details: RunDetails<[History]>, kind: Kind, place: Place): string {
  const { seed, counterexamplePath, counterexample, errorInstance, numRuns, numShrinks } = details
  const what = errorInstance instanceof Error ? errorInstance.message : String(errorInstance)
  const replay = `--kind ${kind} --place ${place} --seed=${seed} --path ${counterexamplePath}`
  return [
    `History ${numRuns} fails (${kind}, ${place}), shortened ${numShrinks} times. Replay it with`,
    `npm run test:histories -- ${replay}`,
    counterexample === null ? '' : sentences(counterexample[0]),
    what,
  ].join('\n')
}
