import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createJsonBatch, DELETE, type RecordBatch, SKIP, UPSERT } from '../records/record-batch.ts'
import { createLatestChanges, readLatestChanges } from './latest-changes.ts'

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
      const changes = createLatestChanges(null)
      for (const records of batches) changes.note(batch(records), (i) => `day of ${records[i]?.id}`)
      const kept = new Map(readLatestChanges(changes.encode() ?? '[]'))

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
