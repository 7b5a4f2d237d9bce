import type { Writable } from 'node:stream'
import { releaseBuffer } from '../records/record-batch.ts'

/** One promise for all callers that wait for the same event. A rejection that nobody handles is ignored. */
class DrainSignal {
  #waiting: PromiseWithResolvers | undefined

  wait(): Promise<void> {
    this.#waiting ??= withResolvers()
    return this.#waiting.promise
  }

  open(): void {
    this.#waiting?.resolve()
    this.#waiting = undefined
  }

  close(reason: Error): void {
    this.#waiting?.reject(reason)
    this.#waiting = undefined
  }
}

interface PromiseWithResolvers {
  readonly promise: Promise<void>
  resolve(): void
  reject(reason: Error): void
}

function withResolvers(): PromiseWithResolvers {
  let resolve: () => void = ignore
  let reject: (reason: Error) => void = ignore
  const promise = new Promise<void>((done, failed) => {
    resolve = done
    reject = failed
  })
  promise.catch(ignore)
  return { promise, resolve, reject }
}

/** A rejected promise that need not be handled. */
function rejected(reason: Error): Promise<void> {
  const promise = Promise.reject(reason)
  promise.catch(ignore)
  return promise
}

function ignore(): void {}

/** Small writes are combined up to this size, because each write costs a system call. */
const BATCH_BYTES = 64 * 1024
/**
 * The bytes that may wait in the stream before a caller has to wait: the next page is processed while the last one is
 * written.
 */
const MAX_UNDER_WAY_BYTES = 512 * 1024
const GONE_CODES = new Set([
  'EPIPE',
  'ECONNRESET',
  'ERR_STREAM_DESTROYED',
  'ERR_STREAM_PREMATURE_CLOSE',
])

/** The program that reads the output has ended, so nothing more can be written. */
export class OutputClosedError extends Error {
  override name = 'OutputClosedError'

  constructor(cause?: Error) {
    super('the reader of the output is gone: its program has ended or has closed the pipe', {
      cause,
    })
  }
}

/**
 * The only writer of an output stream. The lines of one call stay together, and calls keep their order. Its promises
 * need not be awaited: they never cause an unhandled rejection.
 */
export interface LineWriter {
  /**
   * Writes whole lines; those of one call are written together. The buffers belong to the writer from then on, and
   * may be overwritten after they were written. Returns undefined if there is no need to wait, otherwise a promise
   * that resolves when the reader has caught up. It rejects with OutputClosedError, or with the error of the stream,
   * such as a full disk.
   */
  write(...lines: readonly (Uint8Array | string)[]): Promise<void> | undefined
  /** Resolves when everything written before has left the process; rejects as `write` does. */
  flush(): Promise<void>
  /** Whether the reader is gone or the output has failed. Then all writes reject. */
  readonly gone: boolean
}

/** Options of a line writer. */
export interface LineWriterOptions {
  /** Called once if the output fails or its reader goes away, so that the work can be stopped. */
  readonly onGone?: () => void
}

/** Creates the writer of a stream, for example `process.stdout`. */
export function createLineWriter(stream: Writable, options: LineWriterOptions = {}): LineWriter {
  return new StreamLineWriter(stream, options.onGone)
}

class StreamLineWriter implements LineWriter {
  readonly #stream: Writable
  readonly #onGone: (() => void) | undefined
  #batch: Uint8Array[] = []
  #batchBytes = 0
  /**
   * A stream over a file descriptor no longer needs the bytes when its callback is called; other streams may pass the
   * same buffer on.
   */
  readonly #reusesBuffers: boolean
  /** Bytes that the stream has not finished writing. */
  #underWay = 0
  /** Resolves when the stream has finished everything written so far. */
  #finished: Promise<void> = Promise.resolve()
  #scheduled = false
  #failure: Error | undefined
  #room = new DrainSignal()

  constructor(stream: Writable, onGone: (() => void) | undefined) {
    this.#stream = stream
    this.#onGone = onGone
    this.#reusesBuffers = 'fd' in stream && typeof stream.fd === 'number'
    stream.on('error', (error: NodeJS.ErrnoException) => this.#fail(error))
    stream.on('close', () => {
      if (!stream.writableFinished) this.#fail(undefined)
    })
  }

  get gone(): boolean {
    return this.#failure !== undefined
  }

  write(...lines: readonly (Uint8Array | string)[]): Promise<void> | undefined {
    if (this.#failure !== undefined) return rejected(this.#failure)
    const pieces = lines.map((line) => (typeof line === 'string' ? Buffer.from(line) : line))
    const size = pieces.reduce((sum, { length }) => sum + length, 0)
    if (size >= BATCH_BYTES) {
      // Writes between cork and uncork leave the process together.
      this.#stream.cork()
      this.#sendBatch()
      for (const piece of pieces) if (piece.length > 0) this.#send(piece)
      this.#stream.uncork()
    } else if (size > 0) {
      this.#batch.push(...pieces)
      this.#batchBytes += size
      if (this.#batchBytes >= BATCH_BYTES) this.#sendBatch()
      else this.#sendSoon()
    }
    return this.#underWay > MAX_UNDER_WAY_BYTES ? this.#room.wait() : undefined
  }

  flush(): Promise<void> {
    if (this.#failure !== undefined) return rejected(this.#failure)
    this.#sendBatch()
    return this.#finished
  }

  #sendBatch(): void {
    if (this.#batchBytes === 0 || this.#failure !== undefined) return
    const bytes = joined(this.#batch, this.#batchBytes)
    this.#batch = []
    this.#batchBytes = 0
    this.#send(bytes)
  }

  #send(bytes: Uint8Array): void {
    this.#underWay += bytes.length
    this.#finished = new Promise((resolve, reject) => {
      this.#stream.write(bytes, (error) => {
        if (error) this.#fail(error)
        if (this.#failure !== undefined) return reject(this.#failure)
        if (this.#reusesBuffers) releaseBuffer(bytes)
        this.#underWay -= bytes.length
        if (this.#underWay <= MAX_UNDER_WAY_BYTES) this.#room.open()
        resolve()
      })
    })
    this.#finished.catch(() => {})
  }

  /**
   * Sends the batch at the end of this turn of the event loop, so that the lines of a slow stream are not held back.
   */
  #sendSoon(): void {
    if (this.#scheduled) return
    this.#scheduled = true
    setImmediate(() => {
      this.#scheduled = false
      this.#sendBatch()
    })
  }

  #fail(error: NodeJS.ErrnoException | undefined): void {
    if (this.#failure !== undefined) return
    const isGone = error === undefined || GONE_CODES.has(error.code ?? '')
    this.#failure = isGone ? new OutputClosedError(error) : error
    this.#batch = []
    this.#batchBytes = 0
    this.#room.close(this.#failure)
    this.#onGone?.()
  }
}

function joined(batch: readonly Uint8Array[], size: number): Uint8Array {
  const [only] = batch
  if (only !== undefined && batch.length === 1) return only
  const bytes = Buffer.concat(batch, size)
  batch.forEach(releaseBuffer)
  return bytes
}

/** Lines that are held back, to be written together with later ones. */
export interface HeldLines {
  readonly isEmpty: boolean
  /** Writes the held lines, and holds these instead. */
  hold(lines: Uint8Array | string): Promise<void> | undefined
  /** Adds a line to the held ones. */
  append(line: string): void
  /** Writes the held lines and then `more`, in one write. */
  release(...more: readonly string[]): Promise<void> | undefined
}

export function createHeldLines(writer: LineWriter): HeldLines {
  let held: (Uint8Array | string)[] = []
  return {
    get isEmpty() {
      return held.length === 0
    },
    hold(lines) {
      const done = release()
      if (lines.length > 0) held.push(lines)
      return done
    },
    append: (line) => void held.push(line),
    release,
  }

  function release(...more: readonly string[]): Promise<void> | undefined {
    const lines = [...held, ...more]
    held = []
    return lines.length === 0 ? undefined : writer.write(...lines)
  }
}
