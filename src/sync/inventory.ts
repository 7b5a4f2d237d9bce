import { createJsonBatch } from '../records/record-batch.ts'
import { emitDeletes } from './emit.ts'
import type { InventoryRow } from './stream-account.ts'
import type { StreamContext } from './stream-state.ts'

/** Writes the inventory whole; rows of an earlier one that it has no more are deleted. */
export async function emitInventory(
  { state, output, clock }: Pick<StreamContext, 'state' | 'output' | 'clock'>,
  rows: readonly InventoryRow[],
): Promise<void> {
  const { keys, mode } = state
  output.started(() => state.blob())
  if (!state.isRefreshed) await write()
  output.running()
  await output.complete()

  async function write(): Promise<void> {
    // Whatever an earlier sync came to, it is made anew.
    if (state.isContinued) state.beginAnew(clock.now())
    const batch = createJsonBatch(
      rows.map((row) => ({
        json: JSON.stringify(row),
        key: JSON.stringify([row.stream, row.part]),
      })),
    )
    state.addRows(batch.count)
    if (mode === 'incremental') keys.observe(batch, 'window')
    await output.records(batch, state.stamp(clock.now()))
    state.moveTo({ phase: 'complete', next: 'list' })
    await emitDeletes({ state, output, clock })
  }
}
