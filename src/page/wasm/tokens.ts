/** Set when a token does not end: 0 if only bytes are missing, otherwise the position of the error. */
export let wrongAt: u32 = 0
/** Where to continue with the token when there are more bytes. */
export let resumeAt: u32 = 0
/** Whether the current or last string contains an escape. */
export let escaped: bool = false

/** Resets `escaped`; must be called after every string with escapes. */
export function beginText(): void {
  escaped = false
}

/**
 * Bit i is set if byte i of the 16 at `at` is not a plain character of a string: a quote, a backslash or a control
 * character.
 */
export function textStops(at: u32): i32 {
  const bytes = v128.load(at)
  return i8x16.bitmask(
    v128.or(
      v128.or(i8x16.eq(bytes, i8x16.splat(0x22)), i8x16.eq(bytes, i8x16.splat(0x5c))),
      i8x16.lt_u(bytes, i8x16.splat(0x20)),
    ),
  )
}

/** The number of digits at `at`; 16 if there are as many or more. */
export function digits(at: u32): u32 {
  const isOther = i8x16.gt_u(i8x16.sub(v128.load(at), i8x16.splat(0x30)), i8x16.splat(9))
  return ctz(i8x16.bitmask(isOther) | 0x10000)
}

/** Skips white space. Line breaks are replaced by spaces, because a record must stay on one line. */
export function space(at: u32): u32 {
  while (true) {
    const c: u32 = load<u8>(at)
    if (c == 0x0a || c == 0x0d) store<u8>(at, 0x20)
    else if (c != 0x20 && c != 0x09) return at
    at++
  }
}

/**
 * Returns the position of the closing quote of a string; `at` is a position inside of it. Returns 0 if there is none:
 * then `wrongAt` says why, and `resumeAt` where to continue when there are more bytes.
 */
export function stringEnd(at: u32, end: u32): u32 {
  while (true) {
    const stops = textStops(at)
    if (stops == 0) {
      at += 16
      continue
    }
    at += ctz(stops)
    const c: u32 = load<u8>(at)
    if (c == 0x22) return at
    if (c != 0x5c) {
      wrongAt = at < end ? at : 0
      resumeAt = at
      return 0
    }
    escaped = true
    const after = escapeEnd(at, end)
    if (after == 0) {
      resumeAt = at
      return 0
    }
    at = after
  }
}

function escapeEnd(at: u32, end: u32): u32 {
  const c: u32 = load<u8>(at + 1)
  if (
    c == 0x22 ||
    c == 0x5c ||
    c == 0x2f ||
    c == 0x62 ||
    c == 0x66 ||
    c == 0x6e ||
    c == 0x72 ||
    c == 0x74
  )
    return at + 2
  if (c != 0x75) return broken(at + 1, end)
  for (let i: u32 = 2; i < 6; i++) if (!isHex(load<u8>(at + i))) return broken(at + i, end)
  return at + 6
}

function isHex(c: u32): bool {
  return c - 0x30 < 10 || (c | 0x20) - 0x61 < 6
}

function broken(at: u32, end: u32): u32 {
  wrongAt = at < end ? at : 0
  return 0
}

/**
 * Returns the position after the literal that begins at `at`; 0 as in `stringEnd`, and then it is read again from
 * `at`.
 */
export function literalEnd(at: u32, end: u32): u32 {
  resumeAt = at
  const c: u32 = load<u8>(at)
  if (c == 0x74) return spelled(at, end, 0x65757274, 4)
  if (c == 0x6e) return spelled(at, end, 0x6c6c756e, 4)
  if (c == 0x66) return spelled(at, end, 0x65736c6166, 5)
  return broken(at, end)
}

function spelled(at: u32, end: u32, letters: u64, length: u32): u32 {
  for (let i: u32 = 0; i < length; i++) {
    if (load<u8>(at + i) != <u8>(letters >> (i * 8))) return broken(at + i, end)
  }
  return at + length
}

// The states of a number; from ZERO on, it may end in the even states.
const SIGN: u32 = 1
const ZERO: u32 = 2
const DOT: u32 = 3
const DIGITS: u32 = 4
const MARK: u32 = 5
const FRACTION: u32 = 6
const MARK_SIGN: u32 = 7
const EXPONENT: u32 = 8

let progress: u32 = 0

/** Begins a number. */
export function beginNumber(): void {
  progress = 0
}

/** Returns the position after the number; 0 as in `stringEnd`. Its state is kept if the chunk ends. */
export function numberEnd(at: u32, end: u32): u32 {
  while (true) {
    const c: u32 = load<u8>(at)
    const next = c - 0x30 < 10 ? afterDigit(progress, c) : afterSign(progress, c)
    if (next == 0) break
    progress = next
    at++
  }
  resumeAt = at
  if (at < end && progress >= ZERO && (progress & 1) == 0) return at
  return broken(at, end)
}

function afterDigit(state: u32, c: u32): u32 {
  if (state <= SIGN) return c == 0x30 ? ZERO : DIGITS
  if (state == ZERO) return 0
  if (state == DIGITS) return DIGITS
  if (state == DOT || state == FRACTION) return FRACTION
  return EXPONENT
}

function afterSign(state: u32, c: u32): u32 {
  if (c == 0x2d && state == 0) return SIGN
  if (c == 0x2e && (state == ZERO || state == DIGITS)) return DOT
  if ((c | 0x20) == 0x65 && (state == ZERO || state == DIGITS || state == FRACTION)) return MARK
  if ((c == 0x2b || c == 0x2d) && state == MARK) return MARK_SIGN
  return 0
}

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
