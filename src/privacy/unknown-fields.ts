import { type IdentifiedMessage, warningOf } from '../ground/message-ids.ts'
import { clean } from '../ground/text.ts'

/** Called at least once for a field that the schema does not have, with its path. */
export type OnUnknown = (field: string, isLeftOut: boolean) => void

/** Collects the fields of all streams of a sync that the schemas do not have. */
export interface UnknownFields {
  /** The callback for one stream. */
  of(stream: string): OnUnknown
  /** A warning; undefined if there are no such fields. */
  warning(): IdentifiedMessage | undefined
}

/**
 * The most fields that are named per list, and the most characters of a name: a service that sends a new field in each
 * record must not fill the log.
 */
const MOST = 500
const LONGEST = 90

export function createUnknownFields(): UnknownFields {
  const fates = { passedOn: new Set<string>(), leftOut: new Set<string>() }
  return {
    of: (stream) => (field, isLeftOut) => {
      const fields = isLeftOut ? fates.leftOut : fates.passedOn
      if (fields.size <= MOST) fields.add(clean(`${stream}.${field}`, LONGEST))
    },
    warning() {
      const lists = [
        ...listed('They are passed on', fates.passedOn),
        ...listed('They are left out', fates.leftOut),
      ]
      return lists.length === 0
        ? undefined
        : warningOf(
            'unknown-fields',
            `The service sends fields that the schemas do not know; they may be personal data. ${lists.join(' ')} The settings unknown_fields and field_rules decide.`,
          )
    },
  }
}

function listed(fate: string, fields: ReadonlySet<string>): string[] {
  if (fields.size === 0) return []
  const named = [...fields].slice(0, MOST).sort().join(', ')
  return [`${fate}: ${named}${fields.size > MOST ? ` and more than ${MOST} in all` : ''}.`]
}
