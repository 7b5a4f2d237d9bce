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
