import { viewOf } from './byte-view.ts'
import { type Batch, DELETE, DROP, SOFT_DELETE, UPSERT } from './record-batch.ts'

/** A record as JSON text: an object of one line, with the JSON text of its key beside it. */
export interface JsonRecord {
  readonly json: string
  /** The JSON text of the key, `null` if left out; of several columns, an array of their values. */
  readonly key?: string
}

/**
 * A batch of records that were made or changed by us. It costs a parse and a copy of each, which
 * only streams pay that cannot be spliced.
 */
export function createJsonBatch(records: readonly JsonRecord[]): Batch {
  const ops = new Uint8Array(records.length).fill(UPSERT)
  const at = (index: number) => records[index] ?? { json: '{}' }
  return {
    count: records.length,
    ops,
    keys: new Float64Array(records.length).fill(Number.NaN),
    highestVersion: undefined,
    keyText: (index) => at(index).key ?? 'null',
    versionText: () => undefined,
    record: (index) => Buffer.from(at(index).json),
    visit: (index, visitor) => visitor(viewOf(Buffer.from(at(index).json)), 0),
    lines({ prefix, suffix, deleteSuffix }) {
      const parts = records.flatMap(({ json }, i) => {
        const kind = ops[i]
        if (kind === DROP) return []
        return [
          prefix,
          Buffer.from(json.slice(0, -1)),
          kind === DELETE || kind === SOFT_DELETE ? deleteSuffix : suffix,
        ]
      })
      const lines = new Uint8Array(parts.reduce((size, part) => size + part.length, 0))
      let to = 0
      for (const part of parts) {
        lines.set(part, to)
        to += part.length
      }
      return lines
    },
  }
}
