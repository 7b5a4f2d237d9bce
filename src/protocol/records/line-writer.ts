import type { Writable } from 'node:stream'
import { Gate, refused } from './gate.ts'
import { giveBack } from './output-buffers.ts'

/** Small writes are put together up to this size: single lines would cost a system call each. */
const BATCH_BYTES = 64 * 1024
const GONE_CODES = new Set([
  'EPIPE',
  'ECONNRESET',
  'ERR_STREAM_DESTROYED',
  'ERR_STREAM_PREMATURE_CLOSE',
])

/** The program that reads our output has ended: nothing more can be said to it. */
export class ReaderGone extends Error {
  override name = 'ReaderGone'

  constructor(cause?: Error) {
    super('the reader of the output is gone: its program has ended or has closed the pipe', {
      cause,
    })
  }
}

/**
 * The one owner of an output stream. What one call writes stays together; calls keep their order.
 * Its promises may be left alone: a failure that nobody awaits is no unhandled rejection.
 */
export interface LineWriter {
  /**
   * Writes whole lines. Bytes belong to the writer from then on, and may be overwritten
   * once they are out. Returns undefined if there is no
   * need to wait, else a promise that ends when the reader has caught up; it rejects with
   * ReaderGone, or with the error of the stream (a full disk).
   */
  write(lines: Uint8Array | string): Promise<void> | undefined
  /** Ends when everything written before has left the process; rejects as `write` does. */
  flush(): Promise<void>
  /** Whether the reader has gone away, or the output has failed: all writes reject. */
  readonly gone: boolean
}

/** What a line writer may tell. */
export interface LineWriterOptions {
  /** Called once when the output has ended early, to stop the work behind it. */
  readonly onGone?: () => void
}

/** Takes over a stream, for example `process.stdout`. */
export function createLineWriter(stream: Writable, options: LineWriterOptions = {}): LineWriter {
  return new StreamLineWriter(stream, options.onGone)
}

class StreamLineWriter implements LineWriter {
  readonly #stream: Writable
  readonly #onGone: (() => void) | undefined
  #batch: Uint8Array[] = []
  #batchBytes = 0
  /** A stream over a file descriptor is done with bytes when it says so; others may pass them on. */
  readonly #reusesBuffers: boolean
  /** Writes that the stream has not finished. */
  #unfinished = 0
  #full = false
  #scheduled = false
  #failure: Error | undefined
  #room = new Gate()
  #empty = new Gate()

  constructor(stream: Writable, onGone: (() => void) | undefined) {
    this.#stream = stream
    this.#onGone = onGone
    this.#reusesBuffers = 'fd' in stream && typeof stream.fd === 'number'
    stream.on('error', (error: NodeJS.ErrnoException) => this.#fail(error))
    stream.on('close', () => {
      if (!stream.writableFinished) this.#fail(undefined)
    })
    stream.on('drain', () => {
      this.#full = false
      this.#send()
      if (!this.#full) this.#room.open()
    })
  }

  get gone(): boolean {
    return this.#failure !== undefined
  }

  write(lines: Uint8Array | string): Promise<void> | undefined {
    if (this.#failure !== undefined) return refused(this.#failure)
    const bytes = typeof lines === 'string' ? Buffer.from(lines) : lines
    if (bytes.length > 0) this.#batch.push(bytes)
    this.#batchBytes += bytes.length
    if (this.#batchBytes >= BATCH_BYTES) this.#send()
    else this.#sendSoon()
    return this.#full ? this.#room.wait() : undefined
  }

  flush(): Promise<void> {
    if (this.#failure !== undefined) return refused(this.#failure)
    this.#send()
    return this.#unfinished === 0 && this.#batchBytes === 0 ? Promise.resolve() : this.#empty.wait()
  }

  /** Hands the batch to the stream; while the stream is full the batch stays here. */
  #send(): void {
    if (this.#full || this.#batchBytes === 0 || this.#failure !== undefined) return
    const bytes = joined(this.#batch, this.#batchBytes)
    this.#batch = []
    this.#batchBytes = 0
    this.#unfinished++
    this.#full = !this.#stream.write(bytes, (error) => {
      if (error) this.#fail(error)
      else if (this.#reusesBuffers) giveBack(bytes)
      this.#unfinished--
      if (this.#unfinished === 0 && this.#batchBytes === 0) this.#empty.open()
    })
  }

  /** A quiet stream must not be held back: its lines leave with this turn of the event loop. */
  #sendSoon(): void {
    if (this.#scheduled) return
    this.#scheduled = true
    setImmediate(() => {
      this.#scheduled = false
      this.#send()
    })
  }

  #fail(error: NodeJS.ErrnoException | undefined): void {
    if (this.#failure !== undefined) return
    const isGone = error === undefined || GONE_CODES.has(error.code ?? '')
    this.#failure = isGone ? new ReaderGone(error) : error
    this.#batch = []
    this.#batchBytes = 0
    this.#room.close(this.#failure)
    this.#empty.close(this.#failure)
    this.#onGone?.()
  }
}

function joined(batch: readonly Uint8Array[], size: number): Uint8Array {
  const [only] = batch
  if (only !== undefined && batch.length === 1) return only
  const bytes = Buffer.concat(batch, size)
  batch.forEach(giveBack)
  return bytes
}
