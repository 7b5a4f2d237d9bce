import { warningOf } from '../ground/message-ids.ts'
import type { OnUnknown } from './redaction.ts'

/** The fields of all streams of a sync that the schemas do not know. */
export interface UnknownFields {
  /** Takes those of a stream. */
  of(stream: string): OnUnknown
  /** What the operator is to know of them, in one line; undefined when there are none. */
  sentence(): string | undefined
}

/** Fields of one fate that are named; a service that sends a new one in each record must not fill the log. */
const MOST = 100

export function createUnknownFields(): UnknownFields {
  const fates = { passedOn: new Set<string>(), leftOut: new Set<string>() }
  return {
    of: (stream) => (field, isLeftOut) => {
      const fields = isLeftOut ? fates.leftOut : fates.passedOn
      if (fields.size <= MOST) fields.add(`${stream}.${field}`)
    },
    sentence() {
      const lists = [
        ...listed('They are passed on', fates.passedOn),
        ...listed('They are left out', fates.leftOut),
      ]
      return lists.length === 0
        ? undefined
        : warningOf(
            'unknown-fields',
            `The service sends fields that the schemas do not know; each may be personal. ${lists.join(' ')} The settings unknown_fields and field_rules decide.`,
          )
    },
  }
}

function listed(fate: string, fields: ReadonlySet<string>): string[] {
  if (fields.size === 0) return []
  const named = [...fields].slice(0, MOST).sort().join(', ')
  return [`${fate}: ${named}${fields.size > MOST ? ' and more' : ''}.`]
}
