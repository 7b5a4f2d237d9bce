import { PADDING } from './layout'

// What is made of a chunk stands behind it, one thing after the other, until the next chunk comes.

/** Where the next thing will begin. */
export let top: u32 = 0

/** Forgets all; what is made next begins at `at`. */
export function clearHeap(at: u32): void {
  top = at
}

/** Room for so many bytes, from an address on that any number may stand at. */
export function allocate(bytes: u32): u32 {
  const at = (top + 15) & ~15
  allocateUpTo(at + bytes)
  return at
}

/** The same from `top` on, up to `end`; vectors may be read and written behind it. */
export function allocateUpTo(end: u32): void {
  top = end
  ensure(end + PADDING)
}

/** Grows the memory so that it holds `bytes`. */
export function ensure(bytes: u32): void {
  const have = <u32>memory.size()
  const need = (bytes + 0xffff) >>> 16
  if (need > have && memory.grow(<i32>(need - have)) < 0) unreachable()
}

/** Short pieces: whole vectors, running over the end, cost less than the call of a copy routine. */
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
