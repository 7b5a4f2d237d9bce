import type { ObjectRules } from '../../records/object-rules.ts'
import { type LineParts, type RecordBatch, SKIP, UPSERT } from '../../records/record-batch.ts'
import { createBatchRewriter } from '../../records/record-rewriter.ts'
import type { StreamSpec } from '../../records/stream-spec.ts'
import { createHeldLines, type LineWriter } from '../line-writer.ts'
import type { Stamp, StateSource, StreamOutput } from '../stream-output.ts'
import { recordEnds, SDC_DELETED_AT } from '../sync-columns.ts'
import { counterOf, type SingerLog } from './log.ts'
import { activateVersion, type StateWriter, schema } from './singer-messages.ts'

/** What the output of one stream is made of. */
export interface SingerOutputSettings {
  readonly spec: StreamSpec
  /** The columns that order the changes of the stream, if any do. */
  readonly cursor: readonly string[]
  /** The schema of what is left of the records. */
  readonly schema: object
  /** What the catalog deselects; undefined lets records pass as they came. */
  readonly rules: ObjectRules | undefined
  readonly activatesVersions: boolean
  readonly writer: LineWriter
  readonly states: StateWriter
  readonly log: SingerLog
}

/** Turns what a sync says of one stream into the messages of Singer. */
export function createSingerOutput(settings: SingerOutputSettings): StreamOutput {
  const { spec, rules, writer, states, log } = settings
  const { name: stream } = spec
  const counts = { records: 0, deletes: 0, isTracked: true }
  const name = JSON.stringify(stream)
  const held = createHeldLines(writer)
  const select = createBatchRewriter(rules)
  let source: StateSource | undefined
  let isUnsaved = false
  let isDescribed = false
  let isAwaited = true
  let onFirst = () => {}
  states.add(stream, () => (isUnsaved && held.isEmpty ? bookmark() : undefined))
  return {
    counts,
    selection: rules,
    flush,
    untracked() {
      if (!counts.isTracked) return
      counts.isTracked = false
      log.metric(counterOf(stream, 'untracked_deletes', 1))
    },
    onRecord(listener) {
      onFirst = listener
    },
    started(state) {
      if (source === undefined) log.info(`${stream}: reading`)
      source ??= state
    },
    running: describe,
    rateLimited: (until) =>
      log.info(`${stream}: the service asks to wait until ${until.toISOString()}`),
    // Singer has no message for it; the log says it.
    waiting: () => {},
    complete() {
      source ??= () => ({})
      const done = checkpoint()
      log.metric(counterOf(stream, 'record_count', counts.records + counts.deletes))
      return done
    },
    incomplete() {
      if (isUnsaved) void checkpoint()
      log.metric(counterOf(stream, 'record_count', counts.records + counts.deletes))
    },
    records(batch, stamp) {
      describe()
      const before = counts.records + counts.deletes
      count(batch)
      const lines = select(batch).lines(parts(stamp))
      const done = held.hold(lines)
      wrote(lines)
      if (isAwaited && counts.records + counts.deletes > before) tellFirst()
      return done
    },
    deletes(rows, stamp) {
      describe()
      const { prefix, deleteSuffix } = parts(stamp)
      counts.deletes += rows.length
      const lines = rows.map((row) => `${prefix}{${row}${deleteSuffix}`).join('')
      wrote(lines)
      return held.release(lines)
    },
    checkpoint,
    async state() {
      const known = bookmark()
      await held.release(known === undefined ? '' : states.line(stream, known))
      await flush()
    },
    generationComplete(generation) {
      if (!settings.activatesVersions) return
      describe()
      held.append(`${activateVersion(stream, generation)}\n`)
    },
  }

  function checkpoint(): Promise<void> | undefined {
    isUnsaved = true
    const known = states.allows() ? bookmark() : undefined
    return held.release(...(known === undefined ? [] : [states.line(stream, known)]))
  }

  /** Of all records, those that are held included. */
  function bookmark(): object | undefined {
    isUnsaved = false
    return source?.()
  }

  function flush(): Promise<void> {
    void held.release()
    return writer.flush()
  }

  /** Once a record has left the process: only then has its reader seen one. */
  function tellFirst(): void {
    isAwaited = false
    // An output that fails ends the run elsewhere.
    flush().then(onFirst, () => {})
  }

  /** Before the first record, and once; a stream that cannot be read at all has no table to make. */
  function describe(): void {
    if (isDescribed) return
    isDescribed = true
    void writer.write(`${schema(stream, settings.schema, spec.key, settings.cursor)}\n`)
  }

  function wrote({ length }: Uint8Array | string): void {
    if (length === 0) return
    isUnsaved = true
    states.onRecords(length)
  }

  function count({ count, ops }: RecordBatch): void {
    for (let i = 0; i < count; i++) {
      if (ops[i] === UPSERT) counts.records++
      else if (ops[i] !== SKIP) counts.deletes++
    }
  }

  function parts(stamp: Stamp): LineParts {
    const time = stamp.now.toISOString()
    const version = spec.hasGenerations ? `,"version":${stamp.generation}` : ''
    const { live, deleted } = recordEnds(spec, SDC_DELETED_AT, stamp)
    return {
      prefix: Buffer.from(
        `{"type":"RECORD","stream":${name},"time_extracted":"${time}"${version},"record":`,
      ),
      suffix: Buffer.from(`${live}}\n`),
      deleteSuffix: Buffer.from(`${deleted}}\n`),
    }
  }
}
