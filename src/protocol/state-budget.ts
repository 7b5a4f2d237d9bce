/** All STATEs above the small size together may take this much, */
const FREE_BYTES = 768 * 1024
/** plus one byte for this many bytes of records. */
const RECORD_BYTES_PER_STATE_BYTE = 60
/** Platforms and destinations hold STATEs until the rows before them are committed, which takes minutes. */
const MOST_BYTES_PER_MINUTE = 8_000_000
/** After this long a STATE is worth its size. */
const LONGEST_MS = 60_000

/** Decides which pages a STATE follows: every one while STATEs are small, fewer as they grow. */
export interface StateBudget {
  /** Records of so many bytes have been written. */
  onRecords(bytes: number): void
  /** A STATE has been written; `bytes` is its whole line. */
  onState(bytes: number): void
  /** Whether another STATE of the last one's size may be written now. */
  allows(): boolean
}

/**
 * `smallBytes` is the size up to which a STATE follows every page. `now` gives milliseconds of a
 * monotonic clock.
 */
export function createStateBudget(
  smallBytes: number,
  now: () => number = () => performance.now(),
): StateBudget {
  let recordBytes = 0
  let stateBytes = 0
  let lastBytes = 0
  let lastAt = now()
  /** Large STATEs of the last minute. */
  let recent: { readonly at: number; readonly bytes: number }[] = []
  return {
    onRecords(bytes) {
      recordBytes += bytes
    },
    onState(bytes) {
      lastBytes = bytes
      lastAt = now()
      if (bytes <= smallBytes) return
      stateBytes += bytes
      recent.push({ at: lastAt, bytes })
    },
    allows() {
      if (lastBytes <= smallBytes) return true
      const at = now()
      recent = recent.filter((state) => at - state.at < LONGEST_MS)
      const inLastMinute = recent.reduce((sum, { bytes }) => sum + bytes, lastBytes)
      if (inLastMinute > MOST_BYTES_PER_MINUTE) return false
      const isWorthIt =
        stateBytes + lastBytes <= FREE_BYTES + recordBytes / RECORD_BYTES_PER_STATE_BYTE
      return isWorthIt || at - lastAt >= LONGEST_MS
    },
  }
}
