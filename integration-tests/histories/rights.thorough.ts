import fc from 'fast-check'
import { describe, it } from 'vitest'
import type { EmulatorOptions } from '../../emulator/emulator.ts'
import { type Limit, limitOf, mostOf } from '../../src/ground/limit.ts'
import { personCodes } from '../../src/privacy/person-codes.ts'
import { referencedCollections } from '../../src/streams/collections.ts'
import { personIdsIn, personPathsOf } from '../../src/streams/person-paths.ts'
import { keyOf } from '../testing/warehouse.ts'
import { DAY_MS, runSettings } from './property.ts'
import { type Scenario, startScenario } from './scenario.ts'

/** Streams that are read by delta, by lists and in parts, with and without days; each has a row of every second person. */
const STREAMS = [
  'people',
  'contracts',
  'department_histories',
  'clockings',
  'external_references',
] as const
const COLLECTIONS = { people: 'people', contracts: 'contracts', clockings: 'clockings' } as const
const PEOPLE = 24
const DAYS = ['2024-03-01', '2025-06-01', '2026-09-15', '2026-11-18']

const changes = fc.record({
  collection: fc.constantFrom<keyof typeof COLLECTIONS>('people', 'contracts', 'clockings'),
  kind: fc.constantFrom('insert', 'update', 'update', 'remove', 'give'),
  row: fc.nat(60),
})

const syncs = fc.record({
  changes: fc.array(changes, { maxLength: 3 }),
  hours: fc.constantFrom(1, 1, 25, 73, 400),
  /** Whom the client no longer sees. */
  hidden: fc.constantFrom<keyof typeof HIDDEN>('none', 'none', 'even', 'odd', 'few'),
  /** How many rows more than the last sync has withheld are approved; null if none are. */
  approved: fc.constantFrom(null, null, 0, -1, 1),
  isSuppressed: fc.constantFrom(false, false, true),
  /** Whether requests for single records are answered. */
  singles: fc.constantFrom('answer', 'answer', 'fail'),
  killAfter: fc.oneof(fc.constant(0), fc.constant(0), fc.integer({ min: 1, max: 60 })),
  auditDays: fc.constantFrom(0, 1, 7),
  startDate: fc.constantFrom('2024-01-01', '2024-01-01', '2025-06-01', '2026-09-01'),
  retainMonths: fc.constantFrom([], [], [{ months: 1 }], [{ stream: 'clockings', months: 20 }]),
  maxMissing: fc.constantFrom('0', '20%'),
})

const HIDDEN = {
  none: () => false,
  even: (person: number) => person % 2 === 0,
  odd: (person: number) => person % 2 === 1,
  few: (person: number) => person % 8 === 3,
}

const KEY = 'Wq3-xkT9_mB7vZ2p'
const SUPPRESSED = '5'

const stories = fc.record({
  options: fc.record({
    pageSize: fc.constantFrom(5, 10, 100),
    deltaPageSize: fc.constantFrom(0, 2),
    usedDeltaLink: fc.constantFrom('answers', 'continues', 'gone'),
    deltaFilterBound: fc.boolean(),
    deltaLog: fc.boolean(),
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
    const config = { start_date: '2024-01-01', future_days: 730, window_days: 365 }
    Object.assign(settings, { ...config, privacy_key: KEY })
    const { of } = personCodes({ key: KEY, tenant: String(emulator.config()['tenant']) })
    await scenario.sync()
    /** The approvals that the last sync has named, and how many rows more the next one approves. */
    let named: RegExpMatchArray[] = []
    let more = 0
    for (const { changes, hours, killAfter, approved, isSuppressed, singles, ...rest } of syncs) {
      const hidden = areAllSeen ? 'none' : rest.hidden
      const maxMissing = areAllSeen ? '20%' : rest.maxMissing
      emulator.advance({ hours })
      for (const { collection, kind, row } of changes) {
        const all = emulator.all(collection)
        const { id } = all[row % all.length] as { id: number }
        if (kind === 'insert') emulator.insert(collection, { date: DAYS[row % DAYS.length] })
        else if (kind === 'update') emulator.update(collection, id)
        else if (kind === 'give') emulator.update(collection, id, personOf(collection, row))
        else if (removed++ < 4) emulator.remove(collection, id)
      }
      Object.assign(settings, {
        audit_days: rest.auditDays,
        start_date: rest.startDate,
        retain_months: rest.retainMonths,
        max_missing: maxMissing,
        approved_deletes: named.map(
          ([, stream, count, time]) => `${stream}:${Math.max(1, Number(count) + more)}:${time}`,
        ),
        suppressed_people: isSuppressed ? [of(SUPPRESSED)] : [],
      })
      mayAlarm ||= hidden !== 'none' || maxMissing === '0'
      const before = livingRows(scenario)
      const most = mostLost(scenario, limitOf(maxMissing))
      for (const [, stream = '', count] of named)
        for (const [part, rows] of most)
          if (part.startsWith(stream)) most.set(part, Math.max(rows, Number(count) + more))
      emulator.hide(HIDDEN[hidden])
      if (singles === 'fail') emulator.fail(SINGLES, 500)
      const { errors } = await scenario.sync({ killAfter, kept: 'committed' })
      emulator.clearFaults()
      named = approved === null ? [] : [...errors.join().matchAll(APPROVAL)]
      more = approved ?? 0
      const isLeftOut = ({ people }: Living) => isSuppressed && people.includes(SUPPRESSED)
      refuse([
        ...lost(before, most, scenario, isLeftOut),
        ...errors.filter((text) => !isAlarm(text)),
      ])
      if (!mayAlarm) refuse(errors)
      if (errors.length === 0 && killAfter === 0)
        refuse(
          [...livingRows(scenario)]
            .filter(([, row]) => isLeftOut(row))
            .map(([row]) => `${row} is of a suppressed person`),
        )
    }
    emulator.hide(() => false)
    const lenient = { max_missing: '100%', suppressed_people: [], approved_deletes: [] }
    Object.assign(settings, { audit_days: 0, history_refresh_days: 1, ...lenient })
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

/** Requests for single records. */
const SINGLES = /^\/[a-z-]+\/\d+[?]?/

/** Gives a row to the person who is suppressed at times, or to another one. */
function personOf(collection: keyof typeof COLLECTIONS, row: number): Row {
  return collection === 'people' ? {} : { person: { id: row % 2 === 0 ? Number(SUPPRESSED) : 3 } }
}

function isAlarm(text: string): boolean {
  return /of the \d+ rows of .* were not found|could not be looked for again/.test(text)
}

const APPROVAL = /approval for deleting them is (\w+):(\d+):(\S+Z)/g

/** A row of the service. */
interface Living {
  /** The part of its stream for which there is a limit. */
  readonly part: string
  /** The ids of those whose row it is. */
  readonly people: readonly string[]
  readonly date: unknown
}

/** The rows of a warehouse that live in the service, whoever sees them. */
function livingRows({ platform, emulator }: Scenario): Map<string, Living> {
  const found = new Map<string, Living>()
  for (const stream of STREAMS) {
    const held = platform.warehouses[0]?.rows(stream)
    const paths = personPathsOf(stream)
    const truth: readonly Row[] =
      stream === 'external_references'
        ? referencedCollections.flatMap((collection) =>
            emulator
              .references(collection)
              .map(({ referenceName, externalReference, ...rest }) => ({
                ...{ collection, name: referenceName, value: externalReference, ...rest },
              })),
          )
        : emulator.all(stream.replace('_', '-'))
    for (const row of truth) {
      if (held?.has(keyOf(row)))
        found.set(`${stream} ${keyOf(row)}`, {
          part: partOf(stream, row),
          people: personIdsIn(row, paths),
          date: row['date'],
        })
    }
  }
  return found
}

type Row = Readonly<Record<string, unknown>>

const partOf = (stream: string, row: Row) => `${stream} ${row['collection'] ?? ''}`

/** How many rows of each part a sync may delete because it does not see them. */
function mostLost({ platform }: Scenario, limit: Limit): Map<string, number> {
  const rows = new Map<string, number>()
  for (const stream of STREAMS)
    for (const row of platform.warehouses[0]?.rows(stream).values() ?? []) {
      const part = partOf(stream, row)
      rows.set(part, (rows.get(part) ?? 0) + 1)
    }
  return new Map([...rows].map(([part, count]) => [part, mostOf(count, limit)]))
}

/** What a sync has deleted although it lives, on a day that is kept, of parts of which that is more than it may. */
function lost(
  before: ReadonlyMap<string, Living>,
  most: ReadonlyMap<string, number>,
  scenario: Scenario,
  isLeftOut: (row: Living) => boolean,
): string[] {
  const now = livingRows(scenario)
  const first = scenario.platform.stateOf('clockings')?.start ?? ''
  const missing = [...before].filter(
    ([key, row]) =>
      !now.has(key) && !isLeftOut(row) && (row.date === undefined || String(row.date) >= first),
  )
  const countOf = (part: string) => missing.filter(([, row]) => row.part === part).length
  return missing
    .filter(([, { part }]) => countOf(part) > (most.get(part) ?? 0))
    .map(([key]) => `${key} lives, was in the warehouse, and is not there now`)
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
