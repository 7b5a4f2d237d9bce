import type { Batch } from '../protocol/record-batch.ts'

/** The highest version of a batch by comparison of strings. */
export function highest(batch: Pick<Batch, 'count' | 'versionText'>): string | undefined {
  let best: string | undefined
  for (let index = 0; index < batch.count; index++) {
    const version = batch.versionText(index)
    if (version !== undefined && (best === undefined || version > best)) best = version
  }
  return best
}
