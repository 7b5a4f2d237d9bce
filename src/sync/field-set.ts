import { createHash } from 'node:crypto'

/** Any field, including fields that are in no schema. */
const ANY = '*'
/** The length of a field's digest: even among hundreds of fields, hardly ever two have the same one. */
const LENGTH = 5

/** The fields of a stream as its state stores them: a digest of each path, or `*` for any field. */
export function writeFields(fields: readonly string[] | undefined): string {
  return fields === undefined ? ANY : fields.map(digest).sort().join('')
}

/**
 * The fields that records may have now but not under a stored set, so that older rows lack them; undefined if there
 * are none. `every other field` means fields that are in no schema.
 */
export function addedFields(
  stored: string | null,
  fields: readonly string[] | undefined,
): readonly string[] | undefined {
  // Older states do not have the fields.
  if (stored === null || stored === ANY) return undefined
  if (fields === undefined) return ['every other field']
  const before = new Set(stored.match(new RegExp(`.{${LENGTH}}`, 'g')))
  const added = fields.filter((field) => !before.has(digest(field)))
  return added.length === 0 ? undefined : added
}

function digest(field: string): string {
  return createHash('sha256').update(field).digest('base64url').slice(0, LENGTH)
}
