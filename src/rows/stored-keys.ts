import { createIdSet, type IdSet } from './id-set.ts'

/** The keys as a state stores them; the sets are encoded. */
export interface StoredKeys {
  /** The highest changeVersion so far: an audit knows by it which listed rows are newer. */
  readonly highestVersion: string | null
  readonly isTracked: boolean
  /**
   * Set if the sets are those of a read that has found nothing yet, because what it found does not fit into the
   * state.
   */
  readonly isAtBeginning?: true
  readonly window: string | null
  readonly history: string | null
  readonly pending: readonly StoredDeletes[]
  /** Rows that have to be requested again, because two answers contradict each other. */
  readonly unconfirmed: string | null
  /** Rows that were written since the last audit. */
  readonly written: string | null
}

/** Keys that are deleted at the end of the sync unless they are found before. */
export interface StoredDeletes {
  readonly keys: string
  /** True for keys that a complete read has not found; false for keys of a page that was not completed. */
  readonly isUnseen: boolean
}

/** The sets of keys of one stream. */
export type KeySets = ReturnType<typeof emptySets>

/** Creates sets without keys, or only with those that a read has to find. */
export function emptySets(unseen = createIdSet()) {
  return {
    // Six sets are in the state. A key is in one of the first two at most; the next two wait to be deleted.
    /** Rows that the delta's window has, or the list of a stream without a delta. */
    window: createIdSet(),
    /** Rows that the lists of the days before the window have. */
    history: createIdSet(),
    /** Keys that the current complete read has not found so far. */
    unseen,
    /** Keys of a page that was interrupted, so that it is unclear whether their rows exist. */
    doubted: createIdSet(),
    /** Rows of the first two sets about which two answers contradict each other, so that they may not exist. */
    unconfirmed: createIdSet(),
    /** Rows that were written since the last audit, in any of the sets or in none. */
    written: createIdSet(),
    // Five sets are only of this process.
    /** Keys of the current page that have already been written, while the rest of the page is still to come. */
    ofThisPage: createIdSet(),
    /** Rows whose deletion was reported to this process. */
    reportedDeleted: createIdSet(),
    /** Rows from before the window whose deletion was reported, so that they are looked for before it is believed. */
    reportedBefore: createIdSet(),
    /** Rows that have left, so that further lists do not delete them again. */
    left: createIdSet(),
    /** Rows that only a recheck has had: if they are few, they are unconfirmed for the next sync. */
    onlyListed: createIdSet(),
  }
}

/** Decodes the sets of a state. Throws if one is damaged or contains more than `mostIds` ids. */
export function readSets(stored: StoredKeys | undefined, mostIds?: number): KeySets {
  return {
    ...emptySets(),
    window: createIdSet(stored?.window, mostIds),
    history: createIdSet(stored?.history, mostIds),
    unseen: pendingOf(stored, true, mostIds),
    doubted: pendingOf(stored, false, mostIds),
    unconfirmed: createIdSet(stored?.unconfirmed, mostIds),
    written: createIdSet(stored?.written),
  }
}

/** The stored deletions of a kind; older states may have several groups of it. */
function pendingOf(stored: StoredKeys | undefined, isUnseen: boolean, mostIds?: number): IdSet {
  const groups = stored?.pending.filter((group) => group.isUnseen === isUnseen) ?? []
  const [first = createIdSet(), ...others] = groups.map(({ keys }) => createIdSet(keys, mostIds))
  for (const other of others) first.addAll(other)
  return first
}

/** If two answers contradict each other about more rows than this, none of them is unconfirmed. */
export const MOST_UNCONFIRMED = 100

/** The part of a state that contains the sets. */
type StoredSets = Omit<StoredKeys, 'highestVersion' | 'isTracked'>

/** Encodes the sets as they are; the keys of the current page are in doubt. */
export function encodeSets(sets: KeySets): StoredSets {
  const { window, history, unseen, doubted, unconfirmed, written, ofThisPage, onlyListed } = sets
  const inDoubt = ofThisPage.size === 0 ? doubted : union([doubted, ofThisPage])
  const areFew = onlyListed.size > 0 && onlyListed.size <= MOST_UNCONFIRMED
  const toLookFor = areFew ? union([unconfirmed, onlyListed]) : unconfirmed
  return {
    window: window.encode(),
    history: history.encode(),
    pending: [...deletesOf(unseen, true), ...deletesOf(inDoubt, false)],
    unconfirmed: toLookFor.encode(),
    written: written.encode(),
  }
}

/** Encodes the sets as they were at the beginning of the current read, when all keys were to be found. */
export function encodeAtBeginning(sets: KeySets): StoredSets {
  const pending = deletesOf(allKeys(sets), true)
  const none = { window: null, history: null, unconfirmed: null, written: null }
  return { isAtBeginning: true, ...none, pending }
}

function deletesOf(set: IdSet, isUnseen: boolean): StoredDeletes[] {
  const keys = set.encode()
  return keys === null ? [] : [{ keys, isUnseen }]
}

/** All keys of rows that the warehouse may have. */
export function allKeys({ window, history, unseen, doubted, ofThisPage }: KeySets): IdSet {
  return union([window, history, unseen, doubted, ofThisPage])
}

/** A new set with the keys of others. */
export function union(sets: readonly IdSet[]): IdSet {
  const all = createIdSet()
  for (const keys of sets) all.addAll(keys)
  return all
}

/** The number of characters that the sets take in the state. */
export function charactersOf(sets: StoredSets): number {
  const { window, history, unconfirmed, written, pending } = sets
  const texts = [window, history, unconfirmed, written, ...pending.map(({ keys }) => keys)]
  return texts.reduce((sum, text) => sum + (text?.length ?? 0), 0)
}

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
export type IdBudget = ReturnType<typeof createIdBudget>

/**
 * Creates the budget of a sync. `stored` has the characters of each of its streams at its start; `kept` is the number
 * of characters in the states of all other streams.
 */
export function createIdBudget(stored: ReadonlyMap<string, number>, kept = 0) {
  const taken = new Map(stored)
  const left = Math.floor((WHOLE_STATE - kept) / taken.size) - REST_OF_BOOKMARK
  const own = Math.max(0, Math.min(CHARACTERS_PER_STREAM, left))
  const aboveOwn = (characters: number) => Math.max(0, characters - own)
  const shared = ALL_CHARACTERS - kept - taken.size * own
  return {
    /**
     * Reserves this many characters for a stream instead of its earlier ones. False, and the stream has none,
     * if the others leave no space.
     */
    take(stream: string, characters: number): boolean {
      taken.set(stream, 0)
      const others = [...taken.values()].reduce((sum, size) => sum + aboveOwn(size), 0)
      const fits = characters <= own || others + aboveOwn(characters) <= shared
      if (fits) taken.set(stream, characters)
      return fits
    },
  }
}
