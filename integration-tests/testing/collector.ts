import { Writable } from 'node:stream'

/** A stream that keeps all that is written to it. */
export interface Collector extends Writable {
  text(): string
}

/** Takes what a program says in this process. A `read()` at its end would give one chunk alone since Node 26. */
export function createCollector(): Collector {
  const chunks: Buffer[] = []
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      chunks.push(chunk)
      done()
    },
  })
  return Object.assign(stream, { text: () => Buffer.concat(chunks).toString() })
}
