import { DELETED_AT as CDC_DELETED_AT } from './airbyte/columns.ts'
import { DELETED_AT as SDC_DELETED_AT } from './singer/columns.ts'

/**
 * Whether a record says that its object is gone, in the words of Airbyte or of Singer: a table that one of
 * them loaded may be written by the other. `_deleted` is for tables that somebody made by hand.
 */
export function isDeleted(data: Readonly<Record<string, unknown>>): boolean {
  return isSet(data[CDC_DELETED_AT]) || isSet(data[SDC_DELETED_AT]) || data['_deleted'] === true
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null
}
