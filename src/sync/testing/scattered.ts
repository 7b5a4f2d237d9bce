/** A number below `limit` that follows from `seed` without a pattern a compressor would find. */
export function scattered(seed: number, limit: number): number {
  let mixed = Math.imul(seed ^ (seed >>> 15), 0x2c1b3c6d)
  mixed = Math.imul(mixed ^ (mixed >>> 12), 0x297a2d39)
  return ((mixed ^ (mixed >>> 15)) >>> 0) % limit
}
