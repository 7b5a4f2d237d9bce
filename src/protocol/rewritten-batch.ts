import { acquireBuffer } from './buffer-pool.ts'
import { append, createByteSink } from './byte-sink.ts'
import { viewOf } from './byte-view.ts'
import { type Batch, DROP, UPSERT } from './record-batch.ts'
import { createRecordRewriter, type ObjectRules, rewritten } from './record-rewriter.ts'

/** Rewrites batches by rules: of their records, and of nothing else. Their `ops` are shared. */
export function createBatchRewriter(rules: ObjectRules): (batch: Batch) => Batch {
  const rewrite = createRecordRewriter(rules)
  let expected = 64 * 1024
  return (batch) => {
    const record = (index: number) => rewritten(batch.record(index), rewrite)
    return {
      count: batch.count,
      ops: batch.ops,
      keys: batch.keys,
      keyText: (index) => batch.keyText(index),
      versionText: (index) => batch.versionText(index),
      get highestVersion() {
        return batch.highestVersion
      },
      record,
      visit: (index, visitor) => visitor(viewOf(record(index)), 0),
      lines({ prefix, suffix, deleteSuffix }) {
        const sink = createByteSink(acquireBuffer(expected))
        const write = (from: DataView, start: number) => rewrite(from, start, sink)
        for (let index = 0; index < batch.count; index++) {
          const op = batch.ops[index]
          if (op === DROP) continue
          append(prefix, sink)
          batch.visit(index, write)
          // The suffix closes the record.
          sink.length--
          append(op === UPSERT ? suffix : deleteSuffix, sink)
        }
        expected = Math.ceil(sink.length * ROOM)
        return sink.bytes.subarray(0, sink.length)
      },
    }
  }
}

/** What the lines of a batch may be longer than those of the one before it. */
const ROOM = 1.1
