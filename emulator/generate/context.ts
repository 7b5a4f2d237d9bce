import type { Fields, Id, Store } from '../store/store.ts'
import type { Random } from './random.ts'

/** What a new record is made from. */
export interface Context {
  readonly random: Random
  readonly store: Store
  /** The date of dated records. */
  readonly date: string
  /** The person of personal records. */
  readonly person: Id
}

/** Makes the properties of one plausible record, without id and version. */
export type Make = (context: Context) => Fields

/** A link to some record of a collection; to id 1 when there is none. */
export function link({ random, store }: Context, collection: string): { id: Id } {
  const records = store.records(collection)
  return { id: records.length === 0 ? 1 : random.pick(records).id }
}

/** The link to the context's person. */
export function person({ person: id }: Context): { id: Id } {
  return { id }
}

/** Levels of the activity structure with a definition each. */
export function activityLevels(context: Context): Fields[] {
  const { random, store } = context
  const definitions = store.records('activity-definitions')
  if (definitions.length === 0) return []
  const { id, text } = random.pick(definitions)
  return [{ level: (JSON.parse(text) as Fields)['level'], activityDefinition: { id } }]
}
