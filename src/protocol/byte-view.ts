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
