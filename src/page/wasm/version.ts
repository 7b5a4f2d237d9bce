import { ESCAPED_VERSION } from './memory'

/** No record has a version, or comparing bytes is not enough for one of them. */
const NO_VERSION: i32 = -1
const UNPLAIN_VERSION: i32 = -2

/** The index of the record with the highest version in this chunk, or one of the special results above. */
export let highestVersion: i32 = NO_VERSION
let highestAt: u32 = 0
let highestEnd: u32 = 0
// The highest version as two numbers, if it has 16 bytes.
let highestFirst: u64 = 0
let highestSecond: u64 = 0

/** Begins a new chunk. */
export function beginVersions(): void {
  highestVersion = NO_VERSION
  highestEnd = highestAt
}

/** Notes the version of the record at an index, while its bytes are in the cache of the processor. */
export function noteVersion(index: u32, at: u32, end: u32, flags: u32): void {
  if (at == 0 || highestVersion == UNPLAIN_VERSION) return
  if (flags & ESCAPED_VERSION) highestVersion = UNPLAIN_VERSION
  else if (end - at == USUAL) noteUsual(index, at, end)
  else if (!plain(at, end)) highestVersion = UNPLAIN_VERSION
  else if (highestVersion < 0 || compare(at, end, highestAt, highestEnd) > 0)
    setHighest(index, at, end)
}

/** The number of bytes of the versions that the service sends. */
const USUAL: u32 = 16

function noteUsual(index: u32, at: u32, end: u32): void {
  const bytes = v128.load(at)
  if (i8x16.bitmask(bytes) != 0) {
    highestVersion = UNPLAIN_VERSION
    return
  }
  const reversed = i8x16.swizzle(bytes, i8x16(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0))
  const first = i64x2.extract_lane(reversed, 1)
  const second = i64x2.extract_lane(reversed, 0)
  if (highestEnd - highestAt != USUAL) {
    if (highestVersion >= 0 && compare(at, end, highestAt, highestEnd) <= 0) return
  } else if (
    <u64>first < highestFirst ||
    (<u64>first == highestFirst && <u64>second <= highestSecond)
  )
    return
  setHighest(index, at, end)
  highestFirst = first
  highestSecond = second
}

function setHighest(index: u32, at: u32, end: u32): void {
  highestVersion = <i32>index
  highestAt = at
  highestEnd = end
}

function plain(at: u32, end: u32): bool {
  while (end - at >= 16) {
    if (i8x16.bitmask(v128.load(at)) != 0) return false
    at += 16
  }
  return (i8x16.bitmask(v128.load(at)) & ((1 << (end - at)) - 1)) == 0
}

function compare(a: u32, aEnd: u32, b: u32, bEnd: u32): i32 {
  const aLength = aEnd - a
  const bLength = bEnd - b
  const shared = min<u32>(aLength, bLength)
  for (let i: u32 = 0; i < shared; i += 16) {
    const differ = ~i8x16.bitmask(i8x16.eq(v128.load(a + i), v128.load(b + i))) & 0xffff
    if (differ) {
      const at = i + ctz(differ)
      if (at >= shared) break
      return <i32>load<u8>(a + at) - <i32>load<u8>(b + at)
    }
  }
  return aLength == bLength ? 0 : aLength > bLength ? 1 : -1
}
