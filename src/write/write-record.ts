import type { ObjectName } from './objects.ts'

/** A record that is to be written, or deleted. */
export interface WriteRecord {
  readonly object: ObjectName
  readonly data: Readonly<Record<string, unknown>>
  readonly isDelete: boolean
  /** Its place in the input; comes back in its outcome. */
  readonly ordinal: number
  /** Why the data could not be read: the record is rejected with this sentence. */
  readonly fault?: string
}
