import { isDay } from '../ground/days.ts'
import { asConnectorError, ConnectorError } from '../ground/errors.ts'
import { countRecords, type RecordBatch, SKIP, UPSERT } from '../records/record-batch.ts'
import type { StreamSpec } from '../records/stream-spec.ts'
import type {
  KeyMembers,
  Log,
  Stamp,
  StateSource,
  StreamNotice,
  StreamOutput,
  StreamStart,
} from './connector.ts'
import type { SyncObserver } from './progress/sync-progress.ts'
import type { StreamWriter } from './stream-writer.ts'
import { MOST_GENERATION } from './sync-columns.ts'

/** What calls are checked against. */
export type OutputSpec = Pick<StreamSpec, 'name' | 'key' | 'hasDeletes' | 'hasGenerations'>

/** Where the calls to an output go. */
interface CheckedOutputSettings extends Pick<SyncObserver, 'ended'> {
  readonly writer: StreamWriter
  readonly log: Log
  /** Without a start, it is the planned one. */
  readonly started: (stream: string, start?: StreamStart) => void
}

/** Checks the calls of a source, and passes the valid ones on. What all writers have in common is here. */
export class CheckedOutput implements StreamOutput {
  readonly counts = { records: 0, deletes: 0, withheld: 0, isTracked: true }
  readonly #spec: OutputSpec
  readonly #settings: CheckedOutputSettings
  readonly #writer: StreamWriter
  #phase: 'queued' | 'started' | 'running' | 'complete' | 'failed' = 'queued'
  #state: StateSource | undefined
  #onFirst: (() => void) | undefined
  /** Why the stream is incomplete. After an invalid call no other is passed on, and the stream cannot be complete. */
  failure: ConnectorError | undefined

  constructor(spec: OutputSpec, settings: CheckedOutputSettings) {
    this.#spec = spec
    this.#settings = settings
    this.#writer = settings.writer
  }

  get name(): string {
    return this.#spec.name
  }

  get isEnded(): boolean {
    return this.#phase === 'complete' || this.#phase === 'failed'
  }

  started(state?: StateSource, start?: StreamStart): void {
    if (this.isEnded) this.#refuse('it has ended already')
    if (this.#phase !== 'queued') this.#refuse('it is started twice')
    this.#state = state
    this.#settings.started(this.name, start)
    this.#open()
  }

  records(batch: RecordBatch, stamp: Stamp): Promise<void> | undefined {
    this.#assertOpen()
    this.#assertStamp(stamp)
    // A hand-made batch has no `fault`.
    if (batch.fault !== null) this.#refuse(batch.fault ?? 'its batch is of an unknown kind')
    const { members } = batch
    const missing = members && this.#spec.key.find((name) => !members.has(name))
    if (missing !== undefined) this.#refuse(`a record has no ${missing}, which is its key`)
    if (!this.#spec.hasDeletes && batch.ops.some((op) => op !== UPSERT && op !== SKIP))
      this.#refuse('it has deletes, and its specification does not say so (hasDeletes)')
    this.#run()
    const counted = countRecords(batch, this.counts)
    const done = this.#writer.records(batch, stamp)
    if (counted > 0 && this.#onFirst !== undefined) this.#tellFirst(this.#onFirst)
    return done
  }

  deletes(rows: readonly KeyMembers[], stamp: Stamp): Promise<void> | undefined {
    this.#assertOpen()
    this.#assertStamp(stamp)
    if (!this.#spec.hasDeletes)
      this.#refuse('it has deletes, and its specification does not say so (hasDeletes)')
    if (!rows.every(isKey))
      this.#refuse('a deleted row is not given by the JSON of its key, as "id":7')
    this.#run()
    this.counts.deletes += rows.length
    return this.#writer.deletes(rows, stamp)
  }

  checkpoint(options?: { readonly flush: true }): Promise<void> | undefined {
    if (this.failure !== undefined && !this.isEnded) return undefined
    this.#assertOpen()
    const mustWrite = options?.flush === true
    const done = this.#writer.checkpoint(mustWrite)
    return mustWrite ? Promise.resolve(done).then(() => this.#writer.flush()) : done
  }

  note(notice: StreamNotice): void {
    switch (notice.type) {
      // A timer of the source may tell these two at any moment.
      case 'waiting':
        if (!this.#isOpen) return
        break
      case 'rate limited':
        if (!this.#isOpen) return
        if (!isTime(notice.until)) this.#refuse('the time until which it waits is not valid')
        this.#settings.log.info(
          `${this.name}: the service asks to wait until ${notice.until.toISOString()}`,
        )
        break
      case 'untracked':
        if (this.#phase === 'queued' || !this.counts.isTracked) return
        this.counts.isTracked = false
        break
      default:
        this.#assertOpen()
        this.#take(notice)
    }
    this.#writer.note(notice)
  }

  async complete(): Promise<void> {
    this.#assertOpen()
    this.#run()
    this.#state ??= () => ({})
    this.#phase = 'complete'
    try {
      await this.#writer.ended(true)
      await this.#writer.flush()
    } catch (error) {
      this.failure = asConnectorError(error)
      this.#phase = 'running'
      throw error
    }
    this.#settings.ended(this.name)
  }

  async failed(error: ConnectorError): Promise<void> {
    if (this.isEnded) return
    if (this.#phase === 'queued') this.#open()
    this.failure ??= error
    this.#phase = 'failed'
    const done = this.#writer.ended(false)
    this.#settings.ended(this.name, this.failure)
    await done
    await this.#writer.flush()
  }

  onFirstRecord(listener: () => void): void {
    this.#onFirst = listener
  }

  /** What has an effect on the rows. */
  #take(
    notice: Exclude<StreamNotice, { readonly type: 'waiting' | 'rate limited' | 'untracked' }>,
  ) {
    switch (notice.type) {
      case 'started over':
        this.#settings.started(this.name, notice.start)
        break
      case 'generation complete':
        if (!this.#spec.hasGenerations)
          this.#refuse('a generation is complete, and its specification has none (hasGenerations)')
        this.#assertGeneration(notice.generation)
        this.#run()
        break
      case 'withheld':
        if (!Number.isSafeInteger(notice.rows) || notice.rows < 0)
          this.#refuse(`its number of withheld rows, ${notice.rows}, is not an integer from 0`)
        this.counts.withheld = notice.rows
        break
      case 'left':
        if (typeof notice.field !== 'string' || notice.field === '')
          this.#refuse('the field of the days that are left is not named')
        if (!isDay(notice.day)) this.#refuse('its first day is not a date, as 2026-03-01')
        break
      default:
        this.#refuse('a notice is of an unknown type')
    }
  }

  #open(): void {
    this.#phase = 'started'
    this.#writer.started({ state: () => this.#state?.(), counts: this.counts })
  }

  #run(): void {
    if (this.#phase === 'running') return
    this.#phase = 'running'
    this.#writer.note({ type: 'running' })
  }

  /** Calls the listener when the record has left the process, because only then the reader has seen it. */
  #tellFirst(listener: () => void): void {
    this.#onFirst = undefined
    // A failed output ends the run elsewhere.
    this.#writer.flush().then(listener, () => {})
  }

  get #isOpen(): boolean {
    const isStarted = this.#phase === 'started' || this.#phase === 'running'
    return isStarted && this.failure === undefined
  }

  #assertOpen(): void {
    if (this.#isOpen) return
    if (this.failure !== undefined && !this.isEnded) throw this.failure
    this.#refuse(this.isEnded ? 'it has ended already' : 'it has not been started')
  }

  #assertStamp({ generation, cursor, now }: Stamp): void {
    this.#assertGeneration(generation)
    if (!Number.isSafeInteger(cursor) || cursor < 0)
      this.#refuse(`its cursor ${cursor} is not an integer from 0 to ${Number.MAX_SAFE_INTEGER}`)
    if (!isTime(now)) this.#refuse('its time is not valid')
  }

  #assertGeneration(generation: number): void {
    if (!Number.isInteger(generation) || generation < 1 || generation > MOST_GENERATION)
      this.#refuse(`its generation ${generation} is not an integer from 1 to ${MOST_GENERATION}`)
  }

  #refuse(reason: string): never {
    this.failure ??= new ConnectorError(
      'system',
      'library-misused',
      `The output of the connector for ${this.name} is not valid: ${reason}. This is a fault of the connector: report it.`,
    )
    throw this.failure
  }
}

function isTime(time: Date): boolean {
  return !Number.isNaN(time.getTime())
}

/**
 * Whether a text is the members of a JSON object on one line, without braces. Most keys are numbers, so these are
 * matched first.
 */
function isKey(members: KeyMembers): boolean {
  if (/^"\w+":\d+$/.test(members)) return true
  try {
    return !/[\n\r]/.test(members) && Object.keys(JSON.parse(`{${members}}`)).length > 0
  } catch {
    return false
  }
}
