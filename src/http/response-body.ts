import { createBrotliDecompress, createGunzip } from 'node:zlib'
import { ConnectorError } from '../ground/errors.ts'

/** Where the bytes of a body come from. */
export interface ByteSource {
  pause(): void
  resume(): void
  /** Gives up the rest and closes the connection. */
  abort(reason: Error): void
}

/** A complete body, or its beginning. */
export interface Collected {
  readonly parts: Buffer[]
  /** `large` if the body is larger than requested, `late` if it did not end in time. */
  readonly state: 'whole' | 'large' | 'late'
}

/** The bytes that may wait for a reader before the source is paused. */
const ROOM_BYTES = 256 * 1024
/** Smaller parts are joined: a body in parts of one byte would take a hundred times its size. */
const SMALL_BYTES = 1024
const JOINED_BYTES = 16 * 1024

const NOTHING = Buffer.alloc(0)

/**
 * A body that arrives by events and is read at the reader's pace. The source is paused while too many bytes wait, so
 * that a body of any size needs little memory.
 */
export class ReceivedBody implements AsyncIterable<Buffer> {
  readonly #source: ByteSource
  readonly #toFailure: (error: Error) => Error
  #parts: Buffer[] = []
  /** Small parts that follow the others. */
  #joined = NOTHING
  #joinedBytes = 0
  #bytes = 0
  #room = ROOM_BYTES
  #isPaused = false
  #isEnded = false
  /** Whether bytes have come since a reader last looked, even if they decompress to nothing. */
  #hasArrived = false
  #failure: Error | undefined
  /** Called for each part, at the end, and at a failure. */
  #changed: (() => void) | undefined

  /** `toFailure` converts an error of the source to the one that readers get. */
  constructor(source: ByteSource, toFailure: (error: Error) => Error) {
    this.#source = source
    this.#toFailure = toFailure
  }

  /** Bytes have come that decompress to nothing: a reader can look at the time. */
  arrived(): void {
    this.#hasArrived = true
    this.#changed?.()
  }

  push(part: Buffer): void {
    if (this.#failure !== undefined) return
    this.#hasArrived = true
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

  /** Discards the rest of the body; a waiting reader fails with the reason. */
  discard(reason: Error): void {
    if (this.#isEnded || this.#failure !== undefined) return
    this.#take()
    this.fail(reason)
    this.#source.abort(reason)
  }

  /**
   * Returns the whole body, or its beginning as soon as it is larger than `most` bytes, or when a part arrives later
   * than `until`, a time of `performance.now()`. The rest can be read by iterating.
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
        else if (this.#hasArrived && performance.now() > until) settle('late')
      }
      this.#changed = look
      look()
    })
  }

  /**
   * The parts that were not read yet; an empty one if bytes came that decompress to nothing. A reader that stops early
   * discards the rest.
   */
  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer> {
    try {
      for (;;) {
        const isEmpty = this.#bytes === 0 && this.#hasArrived
        this.#hasArrived = false
        const parts = this.#take()
        this.#resume()
        if (isEmpty) yield NOTHING
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

/** Receives the bytes of an answer. */
interface BodySink {
  push(chunk: Buffer): void
  end(): void
  fail(error: Error): void
}

/** An answer that is arriving: where its bytes go, and its decompressed body. */
export interface IncomingBody {
  readonly sink: BodySink
  readonly body: ReceivedBody
}

/** Creates the body of an answer with this Content-Encoding; its bytes come from `source`. */
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
  // Not during the callback that parses the answer.
  queueMicrotask(() => source.abort(failure))
  return { sink: body, body }
}

/**
 * Each chunk is sent to another thread and back: with zlib's default of 16 KiB, that costs more than the
 * decompression.
 */
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
  let isFruitful = false
  decoder
    .on('data', (part: Buffer) => {
      isFruitful = true
      body.push(part)
    })
    .on('drain', () => source.resume())
    .on('end', () => body.end())
    .on('error', (error) => body.discard(error))
  return {
    body,
    sink: {
      push(chunk) {
        const isTaken = decoder.write(chunk, () => {
          if (!isFruitful) body.arrived()
          isFruitful = false
        })
        if (!isTaken) source.pause()
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
  // A long name is not shown at all, because the mask does not recognize a secret that is cut off.
  const name = encoding.length <= 20 ? `the encoding "${encoding}"` : 'an encoding'
  return new ConnectorError(
    'system',
    'unknown-encoding',
    `The response of the service is encoded as ${name}, which was not requested. Turn it off in the proxy between the connector and the service.`,
  )
}
