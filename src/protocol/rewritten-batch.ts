import { acquireBuffer } from './buffer-pool.ts'
import { reserve } from './byte-sink.ts'
import { type Batch, DROP, UPSERT } from './record-batch.ts'
import { createRecordRewriter, type ObjectRules, rewritten } from './record-rewriter.ts'

/** Rewrites batches by rules: of their records, and of nothing else. Their `ops` are shared. */
export function createBatchRewriter(rules: ObjectRules): (batch: Batch) => Batch {
  const rewrite = createRecordRewriter(rules)
  let expected = 64 * 1024
  return (batch) => ({
    count: batch.count,
    ops: batch.ops,
    keys: batch.keys,
    keyText: (index) => batch.keyText(index),
    versionText: (index) => batch.versionText(index),
    get highestVersion() {
      return batch.highestVersion
    },
    record: (index) => rewritten(batch.record(index), rewrite),
    lines({ prefix, suffix, deleteSuffix }) {
      const sink = { bytes: acquireBuffer(expected), length: 0 }
      for (let index = 0; index < batch.count; index++) {
        const op = batch.ops[index]
        if (op === DROP) continue
        const end = op === UPSERT ? suffix : deleteSuffix
        reserve(sink, prefix.length)
        sink.bytes.set(prefix, sink.length)
        sink.length += prefix.length
        rewrite(batch.record(index), sink)
        // The suffix closes the record.
        sink.length--
        reserve(sink, end.length)
        sink.bytes.set(end, sink.length)
        sink.length += end.length
      }
      expected = Math.ceil(sink.length * ROOM)
      return sink.bytes.subarray(0, sink.length)
    },
  })
}

/** What the lines of a batch may be longer than those of the one before it. */
const ROOM = 1.1
