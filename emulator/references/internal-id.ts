import { collections } from '../collections/collections.ts'
import type { Id } from '../store/store.ts'

const guid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** The id that a text stands for in a collection, an integer or a GUID; undefined for any other text. */
export function parseId(collection: string, text: string): Id | undefined {
  if (collections[collection]?.hasGuids) return guid.test(text) ? text.toLowerCase() : undefined
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined
}
