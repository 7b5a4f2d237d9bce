import { DELETED_AT as CDC_DELETED_AT } from './airbyte/columns.ts'
import { DELETED_AT as SDC_DELETED_AT } from './singer/columns.ts'

/** The columns by which Airbyte and Singer say that a row is gone. */
const DELETED_AT: readonly string[] = [CDC_DELETED_AT, SDC_DELETED_AT]
/** The column of tables that somebody made by hand. */
const DELETED = '_deleted'

/**
 * Whether a record says that its object is gone, in the words of Airbyte or of Singer: a table that one of
 * them loaded may be written by the other. Databases fold the case of columns.
 */
export function isDeleted(data: Readonly<Record<string, unknown>>): boolean {
  return Object.entries(data).some(([column, value]) => {
    if (!column.startsWith('_')) return false
    const name = column.toLowerCase()
    return name === DELETED ? value === true : DELETED_AT.includes(name) && isSet(value)
  })
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null
}
