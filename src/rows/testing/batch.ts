import { type RecordBatch, UPSERT } from '../../records/record-batch.ts'

/** A record of a batch, with the parts by which rows are told apart and judged. */
export interface BatchItem {
  readonly id: number | string
  readonly version?: string | undefined
  /** The op; an upsert by default. */
  readonly kind?: number | undefined
  readonly date?: string | undefined
}

/** A batch like those of the scanner, without the bytes of its records. */
export function batch(...items: readonly BatchItem[]): RecordBatch {
  const versions = items.flatMap(({ version }) => version ?? []).sort()
  return {
    count: items.length,
    ops: Uint8Array.from(items, ({ kind = UPSERT }) => kind),
    keys: Float64Array.from(items, ({ id }) => (typeof id === 'number' ? id : Number.NaN)),
    highestVersion: versions.at(-1),
    fault: null,
    keyText: (i) => JSON.stringify(items[i]?.id),
    versionText: (i) => items[i]?.version,
    dateText: (i) => items[i]?.date,
    record: () => new Uint8Array(),
    received: () => new Uint8Array(),
    lines: () => new Uint8Array(),
  }
}
