import type { Treatment } from '../privacy/treatment.ts'
import type { Stream } from '../streams/collection.ts'

/** A stream as the catalog asks for it, with what an earlier sync left. */
export interface Job {
  readonly stream: Stream
  readonly mode: 'full_refresh' | 'incremental'
  /** The stored state of the stream, unchecked. */
  readonly state: unknown
  /** How the personal data of its records is treated. */
  readonly treatment: Pick<Treatment, 'rules' | 'fingerprint'>
}
