import {
  type LineParts,
  type ObjectRules,
  type RecordBatch,
  SKIP,
  UPSERT,
} from '../../records/record-batch.ts'
import { createBatchRewriter } from '../../records/record-rewriter.ts'
import type { StreamSpec } from '../../records/stream-spec.ts'
import { createHeldLines, type LineWriter } from '../line-writer.ts'
import { createStateBudget } from '../state.ts'
import type { Stamp, StateSource, StreamOutput } from '../stream-output.ts'
import { CDC_DELETED_AT, recordEnds } from '../sync-columns.ts'
import * as messages from './airbyte-messages.ts'

/** What the output of one stream is made of. */
export interface AirbyteOutputSettings {
  readonly spec: StreamSpec
  /** Which columns the catalog chooses; undefined lets records pass as they came. */
  readonly rules?: ObjectRules | undefined
  readonly writer: LineWriter
  /** Shared by the streams of a sync. */
  readonly states: AirbyteStates
}

/**
 * The STATE messages of a sync, one stream beside the other. A destination may commit the rows of
 * all streams when it sees the STATE of one; rows that no STATE of their own covers are unknown to
 * the next sync, which can then not delete them.
 */
export interface AirbyteStates {
  /** `unsaved` answers the STATE line of a stream with records since its last STATE, else nothing. */
  add(unsaved: () => string): void
  /** The STATE lines of all streams that need one. */
  unsaved(): string
}

/** The states of one sync. */
export function createAirbyteStates(): AirbyteStates {
  const streams: (() => string)[] = []
  return {
    add: (unsaved) => void streams.push(unsaved),
    unsaved: () => streams.map((unsaved) => unsaved()).join(''),
  }
}

/** STATEs up to this size follow every page. */
const SMALL_STATE_BYTES = 4096

/** Turns what a sync says of one stream into the messages of the Airbyte protocol. */
export function createAirbyteOutput(settings: AirbyteOutputSettings): StreamOutput {
  const { spec, rules, writer, states } = settings
  const { name: stream } = spec
  const select = createBatchRewriter(rules)
  const budget = createStateBudget(SMALL_STATE_BYTES)
  const held = createHeldLines(writer)
  const counts = { records: 0, deletes: 0, isTracked: true }
  const descriptor = JSON.stringify(stream)
  let onFirst = () => {}
  let source: StateSource | undefined
  let isStarted = false
  let isRunning = false
  let sinceState = 0
  states.add(() => (sinceState > 0 && held.isEmpty && budget.allows() ? stateLine() : ''))
  return {
    counts,
    selection: rules,
    flush,
    started(state) {
      source ??= state
      if (!isStarted) status('STARTED')
      isStarted = true
    },
    running,
    rateLimited: (until) =>
      void writer.write(`${messages.streamStatus(stream, 'RUNNING', until)}\n`),
    waiting: () => status('RUNNING'),
    complete() {
      running()
      // The platform wants a state of every stream.
      source ??= () => ({})
      const complete = `${messages.streamStatus(stream, 'COMPLETE')}\n`
      return held.release(stateLine(), states.unsaved(), complete)
    },
    incomplete() {
      void (sinceState > 0 ? checkpoint() : held.release())
      status('INCOMPLETE')
    },
    generationComplete: () => undefined,
    untracked() {
      if (!counts.isTracked) return
      counts.isTracked = false
      void writer.write(`${messages.analytics('untracked-deletes', stream)}\n`)
    },
    onRecord(listener) {
      onFirst = listener
    },
    records(batch, stamp) {
      count(batch)
      onFirst()
      const lines = select(batch).lines(parts(stamp))
      budget.onRecords(lines.length)
      return held.hold(lines)
    },
    deletes(rows, stamp) {
      const { prefix, deleteSuffix } = parts(stamp)
      const lines = rows.map((row) => `${prefix}{${row}${deleteSuffix}`)
      sinceState += rows.length
      counts.deletes += rows.length
      return held.release(lines.join(''))
    },
    checkpoint,
    async state() {
      await held.release(stateLine(), states.unsaved())
      await flush()
    },
  }

  function running(): void {
    if (isRunning) return
    isRunning = true
    status('RUNNING')
  }

  function checkpoint(): Promise<void> | undefined {
    return budget.allows() ? held.release(stateLine(), states.unsaved()) : held.release()
  }

  /** Counts the records that leave with it or left before it. */
  function stateLine(): string {
    if (source === undefined) return ''
    const line = `${messages.state(stream, source(), sinceState)}\n`
    sinceState = 0
    budget.onState(line.length)
    return line
  }

  function flush(): Promise<void> {
    void held.release()
    return writer.flush()
  }

  function status(value: messages.StreamStatus): void {
    void writer.write(`${messages.streamStatus(stream, value)}\n`)
  }

  function count({ count, ops }: RecordBatch): void {
    for (let i = 0; i < count; i++) {
      const kind = ops[i]
      if (kind === SKIP) continue
      sinceState++
      if (kind === UPSERT) counts.records++
      else counts.deletes++
    }
  }

  function parts(stamp: Stamp): LineParts {
    const { cursor, now } = stamp
    // Never below the time of the cursor, which does not fall from sync to sync.
    const emittedAt = Math.max(now.getTime(), Math.floor(cursor / 1000))
    const { live, deleted } = recordEnds(spec, CDC_DELETED_AT, stamp)
    return {
      prefix: Buffer.from(
        `{"type":"RECORD","record":{"stream":${descriptor},"emitted_at":${emittedAt},"data":`,
      ),
      suffix: Buffer.from(`${live}}}\n`),
      deleteSuffix: Buffer.from(`${deleted}}}\n`),
    }
  }
}
