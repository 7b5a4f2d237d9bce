/**
 * Rising 32-bit integers as the gaps between them, seven bits a byte, the lowest first. For ids that
 * are scattered this is half of what a bitmap takes.
 */
export function encodeGaps(ids: Uint32Array): Buffer {
  const bytes = Buffer.allocUnsafe(ids.length * 5)
  let at = 0
  let previous = 0
  for (const id of ids) {
    let gap = id - previous
    previous = id
    for (; gap > 127; gap = Math.floor(gap / 128)) bytes[at++] = (gap & 127) | 128
    bytes[at++] = gap
  }
  return bytes.subarray(0, at)
}

/** The integers of `encodeGaps`; throws a RangeError when the last one is cut off. */
export function decodeGaps(bytes: Uint8Array): Uint32Array {
  const ids = new Uint32Array(bytes.length)
  let count = 0
  let id = 0
  let gap = 0
  let factor = 1
  for (const byte of bytes) {
    gap += (byte & 127) * factor
    factor *= 128
    if (byte > 127) continue
    id += gap
    ids[count++] = id
    gap = 0
    factor = 1
  }
  if (factor !== 1) throw new RangeError('the set of ids is cut off')
  return ids.subarray(0, count)
}
