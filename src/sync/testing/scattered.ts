/** A number below `limit` that depends on `seed` without a pattern that could be compressed. */
export function scattered(seed: number, limit: number): number {
  let mixed = Math.imul(seed ^ (seed >>> 15), 0x2c1b3c6d)
  mixed = Math.imul(mixed ^ (mixed >>> 12), 0x297a2d39)
  return ((mixed ^ (mixed >>> 15)) >>> 0) % limit
}
