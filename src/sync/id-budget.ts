/**
 * The space in the state for the sets of ids of all streams together, in characters. Orchestrators pass the whole
 * state of a connection in messages of at most 2 MB. The rest is for the other fields of the states: the sums of an
 * audit of 20 years and the latest changes take some 90,000 characters.
 */
const ALL_CHARACTERS = 1_800_000
/** The space that each stream may use, whatever the others use, */
const CHARACTERS_PER_STREAM = 20_000
/** provided that the whole state has room for it and for the rest of the stream's state. */
const WHOLE_STATE = 2_000_000
const REST_OF_BOOKMARK = 2_000

/** Divides the space for ids in the state among the streams of a sync. */
export interface IdBudget {
  /**
   * Reserves this many characters for a stream instead of its earlier ones. False, and the stream has none,
   * if the others leave no space.
   */
  take(stream: string, characters: number): boolean
}

/**
 * Creates the budget of a sync. `stored` has the characters of each of its streams at its start; `kept` is the number
 * of characters in the states of all other streams.
 */
export function createIdBudget(stored: ReadonlyMap<string, number>, kept = 0): IdBudget {
  const taken = new Map(stored)
  const left = Math.floor((WHOLE_STATE - kept) / taken.size) - REST_OF_BOOKMARK
  const own = Math.max(0, Math.min(CHARACTERS_PER_STREAM, left))
  const aboveOwn = (characters: number) => Math.max(0, characters - own)
  const shared = ALL_CHARACTERS - kept - taken.size * own
  return {
    take(stream, characters) {
      taken.set(stream, 0)
      const others = [...taken.values()].reduce((sum, size) => sum + aboveOwn(size), 0)
      const fits = characters <= own || others + aboveOwn(characters) <= shared
      if (fits) taken.set(stream, characters)
      return fits
    },
  }
}
