/** A checkpoint may be this part of the records since the one before it. */
const RECORD_BYTES_PER_STATE_BYTE = 60
/** After this long a checkpoint is worth any size. */
const PATIENCE_MS = 60_000

/** Decides how often a stream writes checkpoints: each page while they are small, less often as they grow. */
export interface Cadence {
  /** Records of so many bytes have been written. */
  wrote(bytes: number): void
  /** A checkpoint of so many bytes, its whole line counted, has been written. */
  stated(bytes: number): void
  isDue(): boolean
}

/** `now` gives milliseconds of a monotonic clock. */
export function createCadence(now: () => number = () => performance.now()): Cadence {
  let since = 0
  let last = 0
  let at = now()
  return {
    wrote(bytes) {
      since += bytes
    },
    stated(bytes) {
      since = 0
      last = bytes
      at = now()
    },
    isDue: () => since >= last * RECORD_BYTES_PER_STATE_BYTE || now() - at >= PATIENCE_MS,
  }
}
