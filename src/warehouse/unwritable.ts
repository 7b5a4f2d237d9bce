import { ConnectorError } from '../ground/errors.ts'
import type { Landing } from './landing.ts'

/** Converts any error while writing rows or tables to a failure of the warehouse. */
export function unwritable(error: unknown): ConnectorError {
  if (error instanceof ConnectorError) return error
  return new ConnectorError(
    'system',
    'warehouse-not-written',
    `The warehouse cannot be written: ${reason(error)}. The rows of the last commit are safe, and the next sync continues there.`,
    { cause: error },
  )
}

/** The failure for a column that cannot be put right, because something that somebody else has made depends on it. */
export function dependedOn(message: string, cause: unknown): ConnectorError {
  return new ConnectorError(
    'config',
    'objects-depend',
    `A column of the warehouse that somebody has changed cannot be put right, because an index or a view depends on it: ${message}. Drop it, sync, and create it again. The warehouse has the rows of the last commit.`,
    { cause },
  )
}

/** Does work with a landing; throws what an error of it means, in the landing's words. */
export function told<T>({ failureOf }: Pick<Landing, 'failureOf'>, work: Promise<T>): Promise<T> {
  return work.catch((error) => {
    throw failureOf(error).error
  })
}

function reason(error: unknown): string {
  const [text = ''] = withoutValues(error instanceof Error ? error.message : String(error)).split(
    '\n',
  )
  return isFull(text) ? 'no space is left on the disk' : text
}

/** Whether an error says that no space is left on the disk. */
export function isFull(error: unknown): boolean {
  return /ENOSPC|No space left|not enough space/i.test(String(error))
}

/** An engine quotes the value of a row that an index or an expression of somebody else refuses. */
function withoutValues(message: string): string {
  const isOfValue = /constraint|convert|conversion/i.test(message)
  return isOfValue ? message.replace(/(["']).*\1/s, '****') : message
}
