import { DELETE, type RecordBatch, SOFT_DELETE, UPSERT } from '../records/record-batch.ts'
import { type AnswerOrder, createChangeOrder } from './answer-order.ts'
import { type Day, dayIn } from './days.ts'
import type { Place, PlaceOf } from './live-keys.ts'

/** How the rows of an answer are judged before they are written. */
export interface RowTreatment {
  /** Where the rows are. */
  readonly place: Place | ((batch: RecordBatch) => Place | PlaceOf)
  /** Marks rows that no longer belong to the stream as deleted. */
  readonly mark: (batch: RecordBatch) => void
  /** Decides which record counts if a row has several. */
  readonly order: AnswerOrder
  /** False if a repeated page always has all of its rows again, as for a delta link. */
  readonly mayOmit: boolean
}

/**
 * How the answer to a delta link is written: its rows may have left the window or the stream. `onLeft` is called
 * when the start of the delta would no longer return a row.
 */
export function changedRows(
  field: 'date' | 'from' | undefined,
  start: Day | null,
  window: Day | null,
  onLeft = () => {},
): RowTreatment {
  const settings = { mayOmit: false, order: createChangeOrder() }
  if (field === undefined || start === null || window === null) {
    const mark = ({ ops, count }: RecordBatch) => {
      if (ops.subarray(0, count).includes(DELETE)) onLeft()
    }
    return { ...settings, place: 'window', mark }
  }
  const dayOf = (batch: RecordBatch, i: number) => dayIn(batch.received(i), field)
  const place: RowTreatment['place'] =
    start < window ? (batch) => (i) => (dayOf(batch, i) < window ? 'backfill' : 'window') : 'window'
  return {
    ...settings,
    place,
    mark(batch) {
      for (let i = 0; i < batch.count; i++) {
        const op = batch.ops[i]
        const day = op === UPSERT ? dayOf(batch, i) : undefined
        if (op === DELETE || (day !== undefined && day < window)) onLeft()
        // A row that has moved before the start date is no longer part of the warehouse.
        if (day !== undefined && day < start) batch.ops[i] = SOFT_DELETE
      }
    },
  }
}
