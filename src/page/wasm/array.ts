import { beginText, digits, escaped, stringEnd, textStops } from './tokens'

/** Deeper arrays are left to the general scanner. */
const MAX_NESTED: u32 = 32

/**
 * Returns the position after the array that begins at `at`. Returns 0 if it contains white space, a number with an
 * exponent or very many digits, or if it is not JSON; then the general scanner has to read it.
 */
export function arrayEnd(at: u32, end: u32): u32 {
  let p = at + 1
  let depth: u32 = 1
  /** One bit per container, the innermost one lowest: 1 for an object. */
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
    // Closes all containers that end here.
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

/** Returns the position after a string, a number or a literal; 0 as in `arrayEnd`. */
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
