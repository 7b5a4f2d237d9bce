import { PADDING } from './layout'

// Everything that is created for a chunk is stored after it, until the next chunk comes.

/** The address of the next allocation. */
export let top: u32 = 0

/** Frees everything; allocations continue at `at`. */
export function clearHeap(at: u32): void {
  top = at
}

/** Allocates bytes at an aligned address. */
export function allocate(bytes: u32): u32 {
  const at = (top + 15) & ~15
  allocateUpTo(at + bytes)
  return at
}

/** Allocates from `top` to `end`; vectors may be read and written beyond the end. */
export function allocateUpTo(end: u32): void {
  top = end
  ensure(end + PADDING)
}

/** Grows the memory to at least this many bytes. */
export function ensure(bytes: u32): void {
  const have = <u32>memory.size()
  const need = (bytes + 0xffff) >>> 16
  if (need > have && memory.grow(<i32>(need - have)) < 0) unreachable()
}

/** Copies bytes. For short pieces, whole vectors that write beyond the end are faster than the copy routine. */
export function copy(to: u32, from: u32, length: u32): u32 {
  const end = to + length
  if (length > 2048) memory.copy(to, from, length)
  else
    while (to < end) {
      v128.store(to, v128.load(from))
      to += 16
      from += 16
    }
  return end
}
