/**
 * The STATE messages of a sync, one stream beside the other. A destination may commit the rows of
 * all streams when it sees the STATE of one; rows that no STATE of their own covers are unknown to
 * the next sync, which can then not delete them.
 */
export interface AirbyteStates {
  /** `unsaved` answers the STATE line of a stream with records since its last STATE, else nothing. */
  add(unsaved: () => string): void
  /** The STATE lines of all streams that need one. */
  unsaved(): string
}

export function createAirbyteStates(): AirbyteStates {
  const streams: (() => string)[] = []
  return {
    add: (unsaved) => void streams.push(unsaved),
    unsaved: () => streams.map((unsaved) => unsaved()).join(''),
  }
}
