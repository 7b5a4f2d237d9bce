import type { LineParts, ObjectRules } from '../../records/record-batch.ts'
import { createBatchRewriter } from '../../records/record-rules.ts'
import type { StreamSpec } from '../../records/stream-spec.ts'
import type { Stamp } from '../connector.ts'
import { createHeldLines, type LineWriter } from '../line-writer.ts'
import { rowsOf } from '../progress/sync-progress.ts'
import { createStateBudget } from '../state.ts'
import type { StartedStream, StreamWriter } from '../stream-writer.ts'
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

/** Up to this size, a STATE goes with those of other streams whatever its own budget allows. */
const SMALL_STATE_BYTES = 4096

/** Writes the output of one stream as messages of the Airbyte protocol. */
export function createAirbyteOutput(settings: AirbyteOutputSettings): StreamWriter {
  const { spec, rules, writer, states } = settings
  const { name: stream } = spec
  const select = createBatchRewriter(rules)
  const budget = createStateBudget()
  const held = createHeldLines(writer)
  let source: StartedStream | undefined
  /** The rows before the last STATE. */
  let covered = 0
  let lastBytes = 0
  states.add(() => {
    const isAllowed = lastBytes <= SMALL_STATE_BYTES || budget.allows()
    return sinceState() > 0 && held.isEmpty && isAllowed ? stateLine() : ''
  })
  return {
    started(started) {
      source = started
      status('STARTED')
    },
    records(batch, stamp) {
      const lines = select(batch).lines(partsOf(spec, stamp))
      budget.onRecords(lines.length)
      return held.hold(lines)
    },
    deletes(rows, stamp) {
      const { prefix, deleteSuffix } = partsOf(spec, stamp)
      return held.release(rows.map((row) => `${prefix}{${row}${deleteSuffix}`).join(''))
    },
    checkpoint,
    note(event) {
      if (event.type === 'running' || event.type === 'waiting') status('RUNNING')
      if (event.type === 'rate limited') status('RUNNING', event.until)
      if (event.type === 'untracked')
        void writer.write(`${messages.analytics('untracked-deletes', stream)}\n`)
    },
    ended(isComplete) {
      if (isComplete) return held.release(stateLine(), states.unsaved(), statusLine('COMPLETE'))
      if (sinceState() > 0) void checkpoint(false)
      return held.release(statusLine('INCOMPLETE'))
    },
    flush() {
      void held.release()
      return writer.flush()
    },
  }

  function checkpoint(mustWrite: boolean): Promise<void> | undefined {
    if (!mustWrite && !budget.allows()) return held.release()
    return held.release(stateLine(), states.unsaved())
  }

  function sinceState(): number {
    return source === undefined ? 0 : rowsOf(source.counts) - covered
  }

  /** The STATE line; it counts all records since the last one, including held ones. */
  function stateLine(): string {
    const state = source?.state()
    if (state === undefined) return ''
    const line = `${messages.state(stream, state, sinceState())}\n`
    covered += sinceState()
    lastBytes = line.length
    budget.onState(lastBytes)
    return line
  }

  function status(value: messages.StreamStatus, until?: Date): void {
    void writer.write(statusLine(value, until))
  }

  function statusLine(value: messages.StreamStatus, until?: Date): string {
    return `${messages.streamStatus(stream, value, until)}\n`
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
