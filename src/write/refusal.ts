import { ClientError } from '../client/client-error.ts'
import type { Verdict } from './outcome.ts'

/** Statuses that are about the one record that was sent. */
const OF_RECORD: ReadonlySet<number> = new Set([400, 404, 409, 412, 413, 414, 422])
/** Statuses that all records of an object would get. */
const OF_OBJECT: ReadonlySet<number> = new Set([401, 403, 405])

/** The verdict on a record that the service, or the client before it, refused; rethrows other errors. */
export function refusalOf(error: unknown): Verdict {
  if (!(error instanceof ClientError) || !isOfRecord(error)) throw error
  const { status, reasons, message } = error
  const reason = reasons.length > 0 ? reasons.join('; ') : message
  return { outcome: 'rejected', reason, ...(status !== undefined && { status }) }
}

/** Whether an error means that nothing of this object can be written, while others may be. */
export function isOfObject(error: unknown): error is ClientError {
  if (!(error instanceof ClientError)) return false
  return error.isMissingScope || OF_OBJECT.has(error.status ?? 0)
}

function isOfRecord(error: ClientError): boolean {
  if (error.isMissingScope) return false
  if (error.status !== undefined) return OF_RECORD.has(error.status)
  // The client itself sends nothing that cannot be right; other errors without a status have a cause.
  return error.failure === 'config' && error.cause === undefined
}
