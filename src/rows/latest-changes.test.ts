import { describe, expect, it } from 'vitest'
import { DELETE, type RecordBatch, SKIP, UPSERT } from '../records/record-batch.ts'
import { LATEST_CHANGES, type LatestChanges, latestChanges } from './latest-changes.ts'

type Change = readonly [key: number, version: string | null | undefined, day?: string]

/** A batch of changes; a row without a version is deleted, and one that is undefined is skipped. */
function batchOf(changes: readonly Change[]): RecordBatch {
  const op = (version: Change[1]) =>
    version === undefined ? SKIP : version === null ? DELETE : UPSERT
  return {
    count: changes.length,
    ops: Uint8Array.from(changes, ([, version]) => op(version)),
    keys: Float64Array.from(changes, ([key]) => key),
    versionText: (i: number) => changes[i]?.[1] ?? undefined,
  } as Partial<RecordBatch> as RecordBatch
}

function noted(before: LatestChanges, ...changes: Change[]): LatestChanges {
  return latestChanges(before, batchOf(changes), (i) => changes[i]?.[2] ?? null)
}

const NONE: LatestChanges = new Map()
const keysIn = (changes: LatestChanges) =>
  [...changes.keys()].toSorted((a, b) => Number(a) - Number(b))
const versions = (from: number, to: number) =>
  Array.from(
    { length: to - from + 1 },
    (_, i): Change => [from + i, `v${String(from + i).padStart(2, '0')}`],
  )
const deletes = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, i): Change => [from + i, null])

describe('the latest changes', () => {
  it('are those of the batch, with the date of each living row', () => {
    const changes = noted(NONE, [1, 'v1', '2026-11-01'], [2, null], [3, 'v2'])
    expect(changes).toEqual(
      new Map([
        [1, { version: 'v1', day: '2026-11-01' }],
        [2, { version: null, day: null }],
        [3, { version: 'v2', day: null }],
      ]),
    )
  })

  it('do not have rows that are skipped', () => {
    expect(keysIn(noted(NONE, [1, undefined], [2, 'v1']))).toEqual([2])
  })

  it('are the eight living rows with the highest versions, in whatever order they come', () => {
    const high = versions(3, 10).map(([key]) => key)
    expect(keysIn(noted(NONE, ...versions(1, 10)))).toEqual(high)
    expect(keysIn(noted(NONE, ...versions(1, 10).toReversed()))).toEqual(high)
    expect(keysIn(noted(noted(NONE, ...versions(5, 10)), ...versions(1, 4)))).toEqual(high)
  })

  it('are the eight rows that were deleted last, beside the living ones', () => {
    expect(keysIn(noted(NONE, ...deletes(1, 10)))).toEqual([3, 4, 5, 6, 7, 8, 9, 10])
    expect(keysIn(noted(noted(NONE, ...deletes(1, 6)), ...deletes(7, 10)))).toEqual([
      3, 4, 5, 6, 7, 8, 9, 10,
    ])
    expect(keysIn(noted(NONE, ...deletes(1, 8), ...versions(11, 18)))).toHaveLength(16)
  })

  it('have only the last change of a row', () => {
    const changed = noted(noted(NONE, [1, 'v1', '2026-11-01'], [2, 'v2']), [1, 'v3', '2026-11-02'])
    expect(changed.get(1)).toEqual({ version: 'v3', day: '2026-11-02' })
    expect(noted(changed, [1, null]).get(1)).toEqual({ version: null, day: null })
    expect(noted(noted(changed, [1, null]), [1, 'v0']).get(1)).toEqual({ version: 'v0', day: null })
  })

  it('of records without versions have an empty one', () => {
    const batch = { ...batchOf([[1, 'x']]), versionText: () => undefined }
    expect(latestChanges(NONE, batch, () => null).get(1)).toEqual({ version: '', day: null })
  })
})

describe('the stored latest changes', () => {
  it('are restored as they were, in their order', () => {
    const changes = noted(NONE, [1, 'v1', '2026-11-01'], [2, null], [3, 'v2'])
    const restored = LATEST_CHANGES.parse(LATEST_CHANGES.toJson(changes))
    expect([...(restored ?? [])]).toEqual([...changes])
    expect(LATEST_CHANGES.toJson(NONE)).toBeNull()
  })

  it.each([[[[true, 'v1', null]]], [[[1, 5, null]]], [[[1, 'v1', 7]]]])(
    'are refused if they are damaged: %j',
    (json) => {
      expect(LATEST_CHANGES.parse(json)).toBeUndefined()
    },
  )
})
