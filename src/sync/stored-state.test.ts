import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createJsonBatch, DELETE, type RecordBatch, SKIP, UPSERT } from '../records/record-batch.ts'
import type { Key } from '../rows/id-set.ts'
import { type LatestChanges, latestChanges } from '../rows/latest-changes.ts'
import type { Position } from './position.ts'
import {
  addedFields,
  fieldDigests,
  readState,
  STATE,
  type StoredState,
  writeState,
} from './stored-state.ts'
import { AT, CHANGES } from './testing/positions.ts'

const PAGE = { url: '/people?page=2', at: AT }

function reading(position: Position, more: Partial<StoredState> = {}): StoredState {
  return {
    mode: 'incremental',
    refresh: 7,
    service: 'demo at http://127.0.0.1',
    environment: 'custom',
    settings: '0123456789abcdef',
    fields: 'abcdefghij',
    start: '2024-01-01',
    leftFrom: '2023-11-01',
    generation: 1795143600,
    cursor: 1_800_000_000_000_000,
    isSettled: false,
    isListDue: false,
    wasDeltaOffered: true,
    wasListOffered: true,
    leavingFrom: null,
    listedUntil: null,
    auditedAt: null,
    mayLackChanges: true,
    comparedAt: AT,
    auditedParts: new Map([['2026-09', '1x2y']]),
    latestChanges: new Map<Key, { version: string | null; day: string | null }>([
      [7, { version: '0A', day: '2026-09-01' }],
      ['["a",1]', { version: null, day: null }],
    ]),
    replacesOlder: true,
    position,
    keys: {
      highestVersion: '0A',
      isTracked: true,
      window: 'rAA==',
      history: null,
      pending: [{ keys: 'rAA==', isUnseen: true }],
      unconfirmed: null,
      written: null,
    },
    withheldSince: AT,
    losses: new Map([['people', { rows: 300, deleted: new Map([['2026-11-20', 7]]) }]]),
    haveOtherKeys: true,
    isSuppressionNew: true,
    wholeRows: 1200,
    rowsSoFar: 300,
    rowsCounted: 5000,
    ...more,
  }
}

const written = (state: StoredState) => writeState(state, state.keys)

const POSITIONS: readonly Position[] = [
  { phase: 'initial', page: null, window: null, maybeConsumed: false },
  { phase: 'initial', page: PAGE, window: '2025-01-01', maybeConsumed: true },
  {
    phase: 'list',
    slice: '2024-01-01/2024-12-31',
    page: PAGE,
    until: '2024-12-31',
    history: { begunAt: AT, changes: { ...CHANGES, maybeConsumed: true, historyAt: null } },
  },
  CHANGES,
  { ...CHANGES, requested: true, maybeConsumed: true },
  { phase: 'list', slice: null, page: null, until: null, history: null },
  { phase: 'list', slice: '', page: PAGE, until: '2028-01-01', history: null },
  { phase: 'complete', next: 'list' },
]

describe('a bookmark', () => {
  it.each(POSITIONS)('of %j is read as it was written', (position) => {
    const stored = JSON.parse(JSON.stringify(written(reading(position))))
    expect(readState(stored)).toEqual(reading(position))
  })

  it('of a delta that is complete continues with its changes', () => {
    const stored = readState(written(reading({ phase: 'complete', next: CHANGES })))
    expect(stored).toMatchObject({ position: CHANGES })
  })

  it('without counts, as older versions wrote it, or with impossible ones, is accepted nevertheless', () => {
    const {
      whole_rows: _,
      rows_so_far: __,
      rows_counted: ___,
      ...older
    } = written(reading(CHANGES))
    const unknown = reading(CHANGES, { wholeRows: null, rowsSoFar: null, rowsCounted: null })
    expect(readState(older)).toEqual(unknown)
    expect(readState({ ...older, whole_rows: -1, rows_so_far: 0.5, rows_counted: 1e300 })).toEqual(
      unknown,
    )
  })

  it('is none where a stream was never read or has been reset', () => {
    expect([undefined, null, {}].map(readState)).toEqual(['none', 'none', 'none'])
  })
})

describe('a bookmark that contradicts itself', () => {
  const blob = written(reading(CHANGES))

  it('in its position is not believed', () => {
    expect(readState({ ...blob, window: null })).toEqual({
      unreadable: 'its fields contradict each other',
    })
  })

  it('in the ids of days before the window is not believed', () => {
    expect(readState({ ...blob, start: '2025-01-01', backfill_ids: 'rAA==' })).toEqual({
      unreadable: 'its fields contradict each other',
    })
  })

  it('is none while the days before the window are leaving', () => {
    const leaving = { start: '2025-01-01', leaving_from: '2024-01-01', backfill_ids: 'rAA==' }
    expect(readState({ ...blob, ...leaving })).toMatchObject({ start: '2025-01-01' })
  })

  it.each([
    ['until', '2026-02-31'],
    ['backfilled_at', 'tomorrow'],
    ['generation', 2 ** 32 + 1],
    ['generation', 0],
    ['link_at', '2150-01-01T00:00:00.000Z'],
    ['requested', null],
    ['pending', '[{"keys":1}]'],
    ['pending', 'nonsense'],
    ['audited_parts', '{"2026-09":7}'],
    ['audited_parts', 'nonsense'],
    ['latest_changes', '[[null,"0A",null]]'],
    ['latest_changes', '[7]'],
    ['latest_changes', '{}'],
    ['requested', 'yes'],
    ['settled', 'yes'],
    ['mode', 'sometimes'],
    ['link', { a: 1 }],
  ])('with the %s %j names that field', (field, value) => {
    expect(readState({ ...blob, [field]: value })).toEqual({
      unreadable: `its field ${field} is damaged`,
    })
  })
})

const FEW = ['id', 'name', 'person.id']

it.each([
  ['the same fields', FEW, FEW.toReversed()],
  ['fewer fields', FEW, ['id']],
  ['some of all fields', undefined, FEW],
  ['all fields again', undefined, undefined],
])('no field is added by %s', (_, before, now) => {
  expect(addedFields(fieldDigests(before), now)).toBeUndefined()
})

it('a field is added that was not there before', () => {
  expect(addedFields(fieldDigests(FEW), [...FEW, 'person.name', 'town'])).toEqual([
    'person.name',
    'town',
  ])
})

it('fields that no schema knows are added where some were before', () => {
  expect(addedFields(fieldDigests(FEW), undefined)).toEqual(['every other field'])
})

it('nothing is reported for an older state, which does not contain its fields', () => {
  expect(addedFields(null, FEW)).toBeUndefined()
})

interface Told {
  readonly id: number
  readonly version: string
  readonly op: number
}

/** A batch in which one record per row counts, as after the order of the delta was applied. */
function batch(records: readonly Told[]): RecordBatch {
  const isLast = ({ id }: Told, at: number) => !records.slice(at + 1).some((r) => r.id === id)
  return {
    ...createJsonBatch(records.map(({ id }) => ({ json: JSON.stringify({ id }) }))),
    ops: Uint8Array.from(records, (record, at) => (isLast(record, at) ? record.op : SKIP)),
    keys: Float64Array.from(records, ({ id }) => id),
    versionText: (i) => records[i]?.version,
  }
}

const told: fc.Arbitrary<Told> = fc.record({
  id: fc.nat(30),
  version: fc.nat(99).map((n) => String(n).padStart(2, '0')),
  op: fc.constantFrom(UPSERT, UPSERT, UPSERT, DELETE),
})

const someTold = fc.array(told, { maxLength: 60 })

it('keeps the living rows with the highest versions and the rows deleted last, each with its last change', () => {
  fc.assert(
    fc.property(fc.array(someTold, { maxLength: 6 }), (batches) => {
      let changes: LatestChanges = new Map()
      const { read, write } = STATE.fields.latestChanges
      for (const records of batches)
        changes = latestChanges(changes, batch(records), (i) => `day of ${records[i]?.id}`)
      const kept = read(write(changes)) ?? new Map()

      const last = new Map(batches.flat().map((record) => [record.id, record]))
      for (const [id, { version, day }] of kept) {
        const isGone = last.get(Number(id))?.op === DELETE
        expect(version).toBe(isGone ? null : last.get(Number(id))?.version)
        expect(day).toBe(isGone ? null : `day of ${id}`)
      }
      const highest = batches
        .flat()
        .map(({ version }) => version)
        .sort()
        .at(-1)
      const atTheTop = [...last.values()].filter((r) => r.op !== DELETE && r.version === highest)
      const kinds = [...kept.values()].map(({ version }) => version === null)
      const found = atTheTop.filter(({ id }) => kept.has(id)).length
      expect(found).toBe(Math.min(8, atTheTop.length))
      expect(kinds.filter((isGone) => isGone).length).toBeLessThanOrEqual(8)
      expect(kinds.filter((isGone) => !isGone).length).toBeLessThanOrEqual(8)
      const lastRecord = batches.flat().at(-1)
      if (lastRecord?.op === DELETE) expect(kept.has(lastRecord.id)).toBe(true)
    }),
  )
})
