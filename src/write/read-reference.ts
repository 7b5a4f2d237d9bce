import { idFault, nameFault, valueFault } from '../client/reference-rules.ts'
import { type Reading, read, rejected, textOf } from './read-members.ts'

/** A record of external_references, as far as it is well formed. */
export interface WantedReference {
  readonly collection: string
  readonly name: string
  readonly value: string
  /** Undefined deletes the value. */
  readonly id: string | undefined
}

/** What a record is found by, as far as it can be; with a value it is complete. */
export type ReferenceKey = Partial<Record<'collection' | 'name' | 'value', string>>

/** The only collection whose ids are no numbers. */
const GUID_COLLECTION = 'activity-definitions'

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
    const value = required(data, 'value')
    refuse(nameFault(name) ?? valueFault(value))
    key.value = value
    if (isDelete) return { collection, name, value, id: undefined }
    const id = required(data, 'internalReference')
    refuse(idFault(collection, id))
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
  if (text === undefined || text === null || text === '')
    throw rejected(`The record has no ${member}.`)
  return text
}

function refuse(fault: string | undefined): void {
  if (fault !== undefined) throw rejected(fault)
}
