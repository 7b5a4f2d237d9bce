import { createCadence } from '../cadence.ts'
import type { LineWriter } from '../records/line-writer.ts'
import { type Batch, LIVE, type LineParts, SKIP } from '../records/page-scanner.ts'
import type { KeyMembers, StreamOutput } from '../stream-output.ts'
import { DELETED_AT, GENERATION } from './columns.ts'
import * as messages from './messages.ts'

export interface AirbyteOutputSettings {
  readonly stream: string
  /** Name of the member that orders versions, for deletes. */
  readonly version: string | undefined
  readonly writer: LineWriter
  /** The service's time, for `_ab_cdc_deleted_at`. */
  readonly now: () => Date
}

/** Turns what a sync says of one stream into the messages of the Airbyte protocol. */
export function createAirbyteOutput(settings: AirbyteOutputSettings): StreamOutput {
  const { stream, version, writer, now } = settings
  const cadence = createCadence()
  const counts = { records: 0, deletes: 0 }
  const descriptor = JSON.stringify(stream)
  let onFirst = () => {}
  let isStarted = false
  let isRunning = false
  let sinceState = 0
  let emittedAt = 0
  return {
    counts,
    isStateDue: cadence.isDue,
    flush: () => writer.flush(),
    started() {
      if (!isStarted) status('STARTED')
      isStarted = true
    },
    running() {
      if (isRunning) return
      isRunning = true
      status('RUNNING')
    },
    rateLimited: (until) =>
      void writer.write(`${messages.streamStatus(stream, 'RUNNING', until)}\n`),
    waiting: () => status('RUNNING'),
    complete: () => status('COMPLETE'),
    incomplete: () => status('INCOMPLETE'),
    generationComplete: () => undefined,
    onRecord(listener) {
      onFirst = listener
    },
    records(batch, generation) {
      count(batch)
      onFirst()
      return write(batch.lines(parts(generation)))
    },
    deletes(rows, changeVersion, generation) {
      const { head, removedTail } = parts(generation)
      const lines = rows.map((row) => `${head}{${members(row, changeVersion)}${removedTail}`)
      sinceState += rows.length
      counts.deletes += rows.length
      return write(lines.join(''))
    },
    state(bookmark) {
      const line = `${messages.state(stream, bookmark, sinceState)}\n`
      sinceState = 0
      cadence.stated(line.length)
      return writer.write(line)
    },
  }

  function status(value: messages.StreamStatus): void {
    void writer.write(`${messages.streamStatus(stream, value)}\n`)
  }

  function write(lines: Uint8Array | string): Promise<void> | undefined {
    cadence.wrote(lines.length)
    return writer.write(lines)
  }

  function count({ count, kinds }: Batch): void {
    for (let i = 0; i < count; i++) {
      const kind = kinds[i]
      if (kind === SKIP) continue
      sinceState++
      if (kind === LIVE) counts.records++
      else counts.deletes++
    }
  }

  function members(row: KeyMembers, changeVersion: string | null): string {
    if (version === undefined || changeVersion === null) return row
    return `${row},${JSON.stringify(version)}:${JSON.stringify(changeVersion)}`
  }

  function parts(generation: number): LineParts & { head: Buffer; removedTail: Buffer } {
    // Of two records of one row with equal versions the later emitted one counts, so time must rise.
    emittedAt = Math.max(Date.now(), emittedAt + 1)
    const end = `,"${GENERATION}":${generation}}}}\n`
    return {
      head: Buffer.from(
        `{"type":"RECORD","record":{"stream":${descriptor},"emitted_at":${emittedAt},"data":`,
      ),
      tail: Buffer.from(`,"${DELETED_AT}":null${end}`),
      removedTail: Buffer.from(`,"${DELETED_AT}":"${now().toISOString()}"${end}`),
    }
  }
}
