import { beginText, digits, escaped, stringEnd, textStops } from './tokens'

/** Deeper arrays are left to the general way. */
const MAX_NESTED: u32 = 32

/**
 * Behind the array that begins at `at`, whatever it holds. 0 when that has white space, a number with an
 * exponent or very many digits, or is not JSON: the general way tells which.
 */
export function arrayEnd(at: u32, end: u32): u32 {
  let p = at + 1
  let depth: u32 = 1
  /** A bit per container, the innermost lowest: set for an object. */
  let kinds: u64 = 0
  let isFirst = true
  while (true) {
    let isClosed = false
    if (isFirst && load<u8>(p) == (kinds & 1 ? 0x7d : 0x5d)) isClosed = true
    else {
      if (kinds & 1) {
        if (load<u8>(p) != 0x22) return 0
        p = scalarEnd(p, end)
        if (p == 0 || load<u8>(p) != 0x3a) return 0
        p++
      }
      const c: u32 = load<u8>(p)
      if (c == 0x5b || c == 0x7b) {
        if (depth++ == MAX_NESTED) return 0
        kinds = (kinds << 1) | (c == 0x7b ? 1 : 0)
        p++
        isFirst = true
        continue
      }
      p = scalarEnd(p, end)
      if (p == 0) return 0
    }
    // Containers end here, as many as do.
    while (isClosed || load<u8>(p) != 0x2c) {
      if (load<u8>(p) != (kinds & 1 ? 0x7d : 0x5d)) return 0
      p++
      if (--depth == 0) return p
      kinds >>= 1
      isClosed = false
    }
    p++
    isFirst = false
  }
}

/** Behind a string, a number or a literal; 0 as above. */
function scalarEnd(p: u32, end: u32): u32 {
  const c: u32 = load<u8>(p)
  if (c == 0x22) {
    p++
    let stops = textStops(p)
    while (stops == 0) stops = textStops((p += 16))
    p += ctz(stops)
    if (load<u8>(p) != 0x22) {
      p = stringEnd(p, end)
      if (escaped) beginText()
      if (p == 0) return 0
    }
    return p + 1
  }
  if (c - 0x30 < 10 || c == 0x2d) {
    if (c == 0x2d) p++
    const length = digits(p)
    if (length == 0 || length > 15 || (length > 1 && load<u8>(p) == 0x30)) return 0
    p += length
    if (load<u8>(p) != 0x2e) return p
    const fraction = digits(++p)
    return fraction == 0 || fraction > 15 ? 0 : p + fraction
  }
  const word = load<u32>(p)
  if (word == 0x65757274 || word == 0x6c6c756e) return p + 4
  return word == 0x736c6166 && load<u8>(p, 4) == 0x65 ? p + 5 : 0
}
