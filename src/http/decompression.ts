import { createBrotliDecompress, createGunzip } from 'node:zlib'
import { ConnectorError } from '../protocol/errors.ts'
import { type ByteSource, ReceivedBody } from './received-body.ts'

/** Takes what arrives of an answer. */
export interface BodySink {
  push(chunk: Buffer): void
  end(): void
  fail(error: Error): void
}

/** An answer under way: where its bytes go, and where they come out decompressed. */
export interface Received {
  readonly sink: BodySink
  readonly body: ReceivedBody
}

/** The body of an answer with this Content-Encoding; `source` is what its bytes come from. */
export function receive(
  encoding: string | undefined,
  source: ByteSource,
  toFailure: (error: Error) => Error,
): Received {
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
): Received {
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
  return new ConnectorError('system', `The service answered in ${name}, which was not asked for.`)
}
