/** Where rewritten records go: bytes up to `length`, with room that grows. */
export interface ByteSink {
  bytes: Buffer
  length: number
}

export function createByteSink(bytes: number): ByteSink {
  return { bytes: Buffer.allocUnsafe(Math.max(bytes, 64)), length: 0 }
}

/** Makes room for so many more bytes. */
export function reserve(sink: ByteSink, more: number): void {
  if (sink.length + more <= sink.bytes.length) return
  const larger = Buffer.allocUnsafe(Math.max(2 * sink.bytes.length, sink.length + more))
  larger.set(sink.bytes.subarray(0, sink.length))
  sink.bytes = larger
}

/** Up to so many bytes are copied one by one: a call of the system's copy costs as much. */
const SHORT = 48

/** Appends a part of other bytes. */
export function copy(from: Buffer, start: number, end: number, sink: ByteSink): void {
  reserve(sink, end - start)
  if (end - start > SHORT) {
    sink.length += from.copy(sink.bytes, sink.length, start, end)
    return
  }
  const { bytes } = sink
  let to = sink.length
  for (let at = start; at < end; at++) bytes[to++] = from[at] as number
  sink.length = to
}
