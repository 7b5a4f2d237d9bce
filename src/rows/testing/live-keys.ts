import { createLiveKeys, type LiveKeys } from '../live-keys.ts'
import { createIdBudget, type IdBudget, type StoredKeys } from '../stored-keys.ts'

/** The keys of people, by default with room for any number of ids. */
export function liveKeys(
  stored?: StoredKeys,
  ids: IdBudget = createIdBudget(new Map([['people', 0]])),
): LiveKeys {
  return createLiveKeys(stored, 'people', ids)
}
