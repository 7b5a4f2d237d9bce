import { type Reading, read, rejected, textOf } from './read-members.ts'

/** A record of external_references, as far as it is well formed. */
export interface WantedReference {
  readonly collection: string
  readonly name: string
  readonly value: string
  /** Undefined deletes the value. */
  readonly id: string | undefined
}

const WHOLE_NUMBER = /^(0|[1-9]\d*)$/
const GUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
/** The only collection whose ids are no numbers. */
const GUID_COLLECTION = 'activity-definitions'

/** What a record is found by, as far as it could be read. */
export type ReferenceKey = Partial<Record<'collection' | 'name' | 'value', string>>

/** Reads a record; one that cannot be sent is rejected with the reason. */
export function readReference(
  data: Readonly<Record<string, unknown>>,
  isDelete: boolean,
): Reading<WantedReference> & { readonly key: ReferenceKey } {
  const key: ReferenceKey = {}
  const reading = read(() => {
    const collection = required(data, 'collection')
    key.collection = collection
    const name = required(data, 'name')
    key.name = name
    if (name.startsWith('@'))
      throw rejected('Names that begin with @ are predefined and cannot be written.')
    const value = required(data, 'value')
    key.value = value
    if (isDelete) return { collection, name, value, id: undefined }
    const id = required(data, 'internalReference')
    if (collection === GUID_COLLECTION ? !GUID.test(id) : !WHOLE_NUMBER.test(id)) {
      const form =
        collection === GUID_COLLECTION ? 'a GUID' : 'a whole number without leading zeros'
      throw rejected(`The internalReference is not an id of ${collection}: it must be ${form}.`)
    }
    return { collection, name, value, id: canonicalId(collection, id) }
  })
  return { ...reading, key }
}

/** An id in the one form in which ids are compared. */
export function canonicalId(collection: string, id: string): string {
  return collection === GUID_COLLECTION ? id.toLowerCase() : id
}

function required(data: Readonly<Record<string, unknown>>, member: string): string {
  const text = textOf(data, member)
  if (text === undefined || text === null) throw rejected(`The record has no ${member}.`)
  if (text === '') throw rejected(`The ${member} is empty.`)
  return text
}
