import { createBrotliDecompress, createGunzip } from 'node:zlib'
import { ConnectorError } from '../ground/errors.ts'

/** What the bytes of a body come from. */
export interface ByteSource {
  pause(): void
  resume(): void
  /** Gives up the rest, and the connection with it. */
  abort(reason: Error): void
}

/** The beginning of a body, or all of it. */
export interface Collected {
  readonly parts: Buffer[]
  /** `large` when there is more than was asked for, `late` when the time was over before the end. */
  readonly state: 'whole' | 'large' | 'late'
}

/** So much waits for a reader who takes part by part, before the source is paused. */
const ROOM_BYTES = 256 * 1024
/** Parts below this size are put together: a body in parts of one byte would take a hundred times its size. */
const SMALL_BYTES = 1024
const JOINED_BYTES = 16 * 1024

const NOTHING = Buffer.alloc(0)

/**
 * A body that arrives by events and is taken in the reader's time: the source is paused while more than
 * a bound waits, so a body of any size takes little memory.
 */
export class ReceivedBody implements AsyncIterable<Buffer> {
  readonly #source: ByteSource
  readonly #toFailure: (error: Error) => Error
  #parts: Buffer[] = []
  /** Small parts, behind the others. */
  #joined = NOTHING
  #joinedBytes = 0
  #bytes = 0
  #room = ROOM_BYTES
  #isPaused = false
  #isEnded = false
  #failure: Error | undefined
  /** Called with each part, at the end and at a failure. */
  #changed: (() => void) | undefined

  /** What breaks the body is thrown as `toFailure` says. */
  constructor(source: ByteSource, toFailure: (error: Error) => Error) {
    this.#source = source
    this.#toFailure = toFailure
  }

  push(part: Buffer): void {
    if (this.#failure !== undefined) return
    if (part.length >= SMALL_BYTES) {
      this.#endJoined()
      this.#parts.push(part)
    } else this.#join(part)
    this.#bytes += part.length
    if (this.#bytes > this.#room && !this.#isPaused) {
      this.#isPaused = true
      this.#source.pause()
    }
    this.#changed?.()
  }

  end(): void {
    this.#isEnded = true
    this.#changed?.()
  }

  fail(error: Error): void {
    if (this.#isEnded) return
    this.#failure ??= this.#toFailure(error)
    this.#changed?.()
  }

  /** Lets go of what has not arrived; whoever waits for it fails with the reason. */
  discard(reason: Error): void {
    if (this.#isEnded || this.#failure !== undefined) return
    this.#take()
    this.fail(reason)
    this.#source.abort(reason)
  }

  /**
   * Takes the body whole, or its beginning as soon as that is larger than `most` bytes, or when a part
   * arrives after `until` of `performance.now()`. The rest is read by iterating.
   */
  collect(most: number, until: number): Promise<Collected> {
    this.#room = most
    this.#resume()
    return new Promise((resolve, reject) => {
      const settle = (state: Collected['state']) => {
        this.#changed = undefined
        this.#room = ROOM_BYTES
        resolve({ parts: this.#take(), state })
      }
      const look = () => {
        if (this.#failure !== undefined) reject(this.#failure)
        else if (this.#isEnded) settle('whole')
        else if (this.#bytes > most) settle('large')
        else if (this.#bytes > 0 && performance.now() > until) settle('late')
      }
      this.#changed = look
      look()
    })
  }

  /** The parts that have not been taken. A reader who leaves lets go of the rest. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer> {
    try {
      for (;;) {
        const parts = this.#take()
        this.#resume()
        for (const part of parts) yield part
        if (this.#bytes > 0) continue
        if (this.#failure !== undefined) throw this.#failure
        if (this.#isEnded) return
        await new Promise<void>((resolve) => {
          this.#changed = resolve
        })
      }
    } finally {
      this.discard(new Error('the rest of the body is not wanted'))
    }
  }

  #join(part: Buffer): void {
    if (this.#joinedBytes + part.length > this.#joined.length) {
      this.#endJoined()
      this.#joined = Buffer.allocUnsafeSlow(JOINED_BYTES)
    }
    this.#joined.set(part, this.#joinedBytes)
    this.#joinedBytes += part.length
  }

  #endJoined(): void {
    if (this.#joinedBytes === 0) return
    this.#parts.push(this.#joined.subarray(0, this.#joinedBytes))
    this.#joined = NOTHING
    this.#joinedBytes = 0
  }

  #take(): Buffer[] {
    this.#endJoined()
    const parts = this.#parts
    this.#parts = []
    this.#bytes = 0
    return parts
  }

  #resume(): void {
    if (!this.#isPaused || this.#bytes > this.#room) return
    this.#isPaused = false
    this.#source.resume()
  }
}

/** Takes what arrives of an answer. */
interface BodySink {
  push(chunk: Buffer): void
  end(): void
  fail(error: Error): void
}

/** An answer under way: where its bytes go, and where they come out decompressed. */
export interface IncomingBody {
  readonly sink: BodySink
  readonly body: ReceivedBody
}

/** The body of an answer with this Content-Encoding; `source` is what its bytes come from. */
export function receive(
  encoding: string | undefined,
  source: ByteSource,
  toFailure: (error: Error) => Error,
): IncomingBody {
  const name = encoding?.trim().toLowerCase()
  if (name === undefined || name === '' || name === 'identity') {
    const body = new ReceivedBody(source, toFailure)
    return { sink: body, body }
  }
  const decoder = decoderOf(name)
  if (decoder !== undefined) return decoded(decoder, source, toFailure)
  const body = new ReceivedBody(source, toFailure)
  const failure = unknownEncoding(name)
  body.fail(failure)
  // Not while the answer is being taken apart.
  queueMicrotask(() => source.abort(failure))
  return { sink: body, body }
}

/** Each chunk is a trip to another thread and back: at zlib's default of 16 KiB they cost more than the work. */
const DECODER = { chunkSize: 256 * 1024 }

type Decoder = ReturnType<typeof createGunzip>

function decoderOf(encoding: string): Decoder | undefined {
  if (encoding === 'gzip' || encoding === 'x-gzip') return createGunzip(DECODER)
  return encoding === 'br' ? createBrotliDecompress(DECODER) : undefined
}

function decoded(
  decoder: Decoder,
  source: ByteSource,
  toFailure: (error: Error) => Error,
): IncomingBody {
  const output: ByteSource = {
    pause: () => decoder.pause(),
    resume: () => decoder.resume(),
    abort(reason) {
      decoder.destroy()
      source.abort(reason)
    },
  }
  const body = new ReceivedBody(output, toFailure)
  decoder
    .on('data', (part: Buffer) => body.push(part))
    .on('drain', () => source.resume())
    .on('end', () => body.end())
    .on('error', (error) => body.discard(error))
  return {
    body,
    sink: {
      push(chunk) {
        if (!decoder.write(chunk)) source.pause()
      },
      end: () => decoder.end(),
      fail(error) {
        body.fail(error)
        decoder.destroy()
      },
    },
  }
}

function unknownEncoding(encoding: string): ConnectorError {
  // What is cut off could hide a secret from the mask: a long name is not shown at all.
  const name = encoding.length <= 20 ? `the encoding "${encoding}"` : 'an encoding'
  return new ConnectorError(
    'system',
    'unknown-encoding',
    `The service answered in ${name}, which was not requested.`,
  )
}
