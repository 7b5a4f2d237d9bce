import type { Config } from '../config/config.ts'
import { tryParseExactly } from '../ground/json.ts'
import { personCodes } from '../privacy/person-codes.ts'
import { type RecordBatch, SKIP } from '../records/record-batch.ts'
import type { Stream } from '../streams/collections.ts'
import { personIdsIn, personPathsOf } from '../streams/person-paths.ts'

/** The people of the setting `suppressed_people` in one stream: the source treats their records as if there were none. */
export interface Suppression {
  /** Differs between settings that leave out other records; empty if no record is left out. */
  readonly fingerprint: string
  /** Returns the batch without the records that are left out, and a batch of these, if there are any. */
  apply(batch: RecordBatch): { readonly batch: RecordBatch; readonly leftOut?: RecordBatch }
}

/** Creates the suppression of a stream, by a configuration that is valid. */
export function createSuppression(
  { stream }: Stream,
  { suppressedPeople, privacy: { pseudonyms } }: Pick<Config, 'suppressedPeople' | 'privacy'>,
): Suppression {
  const paths = suppressedPeople.length === 0 ? [] : personPathsOf(stream)
  if (paths.length === 0 || pseudonyms === undefined)
    return { fingerprint: '', apply: (batch) => ({ batch }) }
  const wanted = new Set(suppressedPeople)
  const codes = personCodes(pseudonyms)
  const known = new Map<string, boolean>()
  const isSuppressed = (id: string) => {
    const found = known.get(id) ?? wanted.has(codes.of(id))
    known.set(id, found)
    return found
  }
  return {
    fingerprint: JSON.stringify([...wanted].sort()),
    apply(batch) {
      const kept: number[] = []
      const leftOut: number[] = []
      for (let i = 0; i < batch.count; i++) {
        const record = tryParseExactly(Buffer.from(batch.received(i)).toString('utf8'))
        const isLeftOut = personIdsIn(record, paths).some(isSuppressed)
        ;(isLeftOut ? leftOut : kept).push(i)
      }
      if (leftOut.length === 0) return { batch }
      return { batch: only(batch, kept), leftOut: only(batch, leftOut) }
    },
  }
}

/** The batch as if it had only the records at these indexes. */
function only(batch: RecordBatch, kept: readonly number[]): RecordBatch {
  const at = (index: number) => kept[index] as number
  const ops = Uint8Array.from(kept, (i) => batch.ops[i] as number)
  return {
    count: kept.length,
    ops,
    keys: Float64Array.from(kept, (i) => batch.keys[i] as number),
    highestVersion: batch.highestVersion,
    fault: batch.fault,
    members: batch.members,
    selection: batch.selection,
    keyText: (index) => batch.keyText(at(index)),
    versionText: (index) => batch.versionText(at(index)),
    dateText: (index) => batch.dateText(at(index)),
    record: (index) => batch.record(at(index)),
    received: (index) => batch.received(at(index)),
    lines(parts) {
      batch.ops.fill(SKIP)
      for (const [index, op] of ops.entries()) batch.ops[at(index)] = op
      return batch.lines(parts)
    },
  }
}
