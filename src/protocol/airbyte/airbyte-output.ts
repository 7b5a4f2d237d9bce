import { countRecords, type LineParts, type ObjectRules } from '../../records/record-batch.ts'
import { createBatchRewriter } from '../../records/record-rules.ts'
import type { StreamSpec } from '../../records/stream-spec.ts'
import type { Stamp, StateSource, StreamOutput } from '../connector.ts'
import { createHeldLines, type LineWriter } from '../line-writer.ts'
import { createStateBudget } from '../state.ts'
import { CDC_DELETED_AT, recordEnds } from '../sync-columns.ts'
import * as messages from './airbyte-messages.ts'

/** What the output of one stream needs. */
export interface AirbyteOutputSettings {
  readonly spec: StreamSpec
  /** The columns that the catalog selects; undefined passes records unchanged. */
  readonly rules?: ObjectRules | undefined
  readonly writer: LineWriter
  /** Shared by all streams of a sync. */
  readonly states: AirbyteStates
}

/**
 * The STATE messages of a sync, across its streams. When a destination gets the STATE of one stream, it may commit
 * the rows of all streams. Rows without a STATE of their own are unknown to the next sync, which could then not
 * delete them.
 */
export interface AirbyteStates {
  /**
   * Registers a stream. `unsaved` returns its STATE line if it has records since its last STATE, otherwise an empty
   * string.
   */
  add(unsaved: () => string): void
  /** The STATE lines of all streams that need one. */
  unsaved(): string
}

/** Creates the states of one sync. */
export function createAirbyteStates(): AirbyteStates {
  const streams: (() => string)[] = []
  return {
    add: (unsaved) => void streams.push(unsaved),
    unsaved: () => streams.map((unsaved) => unsaved()).join(''),
  }
}

/** Up to this size, a STATE follows every page. */
const SMALL_STATE_BYTES = 4096

/** Writes the output of one stream as messages of the Airbyte protocol. */
export function createAirbyteOutput(settings: AirbyteOutputSettings): StreamOutput {
  const { spec, rules, writer, states } = settings
  const { name: stream } = spec
  const select = createBatchRewriter(rules)
  const budget = createStateBudget(SMALL_STATE_BYTES)
  const held = createHeldLines(writer)
  const counts = { records: 0, deletes: 0, withheld: 0, isTracked: true }
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
      // The platform requires a state for every stream.
      source ??= () => ({})
      const complete = `${messages.streamStatus(stream, 'COMPLETE')}\n`
      return held.release(stateLine(), states.unsaved(), complete)
    },
    incomplete() {
      void (sinceState > 0 ? checkpoint() : held.release())
      status('INCOMPLETE')
    },
    generationComplete: () => undefined,
    withheld(rows) {
      counts.withheld = rows
    },
    untracked() {
      if (!counts.isTracked) return
      counts.isTracked = false
      void writer.write(`${messages.analytics('untracked-deletes', stream)}\n`)
    },
    onRecord(listener) {
      onFirst = listener
    },
    records(batch, stamp) {
      sinceState += countRecords(batch, counts)
      onFirst()
      const lines = select(batch).lines(partsOf(spec, stamp))
      budget.onRecords(lines.length)
      return held.hold(lines)
    },
    deletes(rows, stamp) {
      const { prefix, deleteSuffix } = partsOf(spec, stamp)
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

  /** The STATE line; it counts all records since the last one, including held ones. */
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
}

/** The texts around each record of a batch. */
function partsOf(spec: StreamSpec, stamp: Stamp): LineParts {
  const { cursor, now } = stamp
  // Never earlier than the cursor, which does not decrease from sync to sync.
  const emittedAt = Math.max(now.getTime(), Math.floor(cursor / 1000))
  const { live, deleted } = recordEnds(spec, CDC_DELETED_AT, stamp)
  return {
    prefix: Buffer.from(
      `{"type":"RECORD","record":{"stream":${JSON.stringify(spec.name)},"emitted_at":${emittedAt},"data":`,
    ),
    suffix: Buffer.from(`${live}}}\n`),
    deleteSuffix: Buffer.from(`${deleted}}}\n`),
  }
}
