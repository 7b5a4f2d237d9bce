import { viewOf } from './byte-view.ts'

/** Where rewritten records go: bytes up to `length`, with room that grows. */
export interface ByteSink {
  bytes: Buffer<ArrayBuffer>
  /** The same bytes. */
  view: DataView
  length: number
}

/** An empty sink that fills `bytes` first. */
export function createByteSink(bytes: Buffer<ArrayBuffer>): ByteSink {
  return { bytes, view: viewOf(bytes), length: 0 }
}

/** Makes room for so many more bytes. */
export function reserve(sink: ByteSink, more: number): void {
  if (sink.length + more <= sink.bytes.length) return
  const larger = Buffer.allocUnsafe(Math.max(2 * sink.bytes.length, sink.length + more))
  larger.set(sink.bytes.subarray(0, sink.length))
  sink.bytes = larger
  sink.view = viewOf(larger)
}

/** Up to so many bytes are copied here: a call of the system's copy costs as much. */
const SHORT = 128

/** Appends a part of other bytes. */
export function copy(from: DataView, start: number, end: number, sink: ByteSink): void {
  const length = end - start
  reserve(sink, length)
  const { view, length: to } = sink
  const last = length - 4
  if (length > SHORT) append(new Uint8Array(from.buffer, from.byteOffset + start, length), sink)
  else {
    for (let i = 0; i < last; i += 4) view.setInt32(to + i, from.getInt32(start + i, true), true)
    // The last four may be some of those before.
    if (last >= 0) view.setInt32(to + last, from.getInt32(start + last, true), true)
    else for (let i = 0; i < length; i++) view.setUint8(to + i, from.getUint8(start + i))
    sink.length += length
  }
}

/** Appends whole bytes. */
export function append(bytes: Uint8Array, sink: ByteSink): void {
  reserve(sink, bytes.length)
  sink.bytes.set(bytes, sink.length)
  sink.length += bytes.length
}
