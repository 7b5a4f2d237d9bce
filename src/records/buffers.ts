// Fresh memory costs more than filling it: a page of lines touches some 80 new memory pages of the
// system, each a fault. So the buffers that lines are written to go round and round.

const STEP_BYTES = 64 * 1024
/** Larger buffers are left to the garbage collector. */
const LARGEST_BYTES = 4 * 1024 * 1024
const MOST_FREE = 8

const lent = new WeakSet<ArrayBufferLike>()
const free: ArrayBuffer[] = []

/** A buffer of `bytes` with any content. It stays the caller's, unless `releaseBuffer` gets it. */
export function acquireBuffer(bytes: number): Buffer<ArrayBuffer> {
  if (bytes > LARGEST_BYTES) return Buffer.allocUnsafeSlow(bytes)
  const index = free.findIndex((buffer) => buffer.byteLength >= bytes)
  const [found] = index < 0 ? [] : free.splice(index, 1)
  const buffer =
    found ?? Buffer.allocUnsafeSlow(Math.ceil((bytes + 1) / STEP_BYTES) * STEP_BYTES).buffer
  lent.add(buffer)
  return Buffer.from(buffer, 0, bytes)
}

/** Takes back a buffer whose bytes nobody will look at again; anything else is ignored. */
export function releaseBuffer({ buffer }: Uint8Array): void {
  if (!(buffer instanceof ArrayBuffer) || !lent.delete(buffer)) return
  if (free.length < MOST_FREE) free.push(buffer)
}

/** The same bytes as a view: unlike a typed array it reads four of them at once, wherever they stand. */
export function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength)
}

/** Whether as many bytes are the same in two views, from a position in each on. */
export function isEqual(
  a: DataView,
  atA: number,
  b: DataView,
  atB: number,
  length: number,
): boolean {
  const last = length - 4
  for (let i = 0; i < last; i += 4) {
    if (a.getInt32(atA + i, true) !== b.getInt32(atB + i, true)) return false
  }
  // The last four may be some of those before.
  if (last >= 0) return a.getInt32(atA + last, true) === b.getInt32(atB + last, true)
  for (let i = 0; i < length; i++) if (a.getUint8(atA + i) !== b.getUint8(atB + i)) return false
  return true
}

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
