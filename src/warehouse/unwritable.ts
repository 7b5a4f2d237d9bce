import { ConnectorError } from '../protocol/errors.ts'

/** Whatever was thrown while rows or tables were written, as a failure of the warehouse. */
export function unwritable(error: unknown): ConnectorError {
  if (error instanceof ConnectorError) return error
  return new ConnectorError(
    'system',
    `The warehouse cannot be written: ${reason(error)}. It is as of the last commit, and the next sync continues there.`,
    { cause: error },
  )
}

function reason(error: unknown): string {
  const [text = ''] = String(error instanceof Error ? error.message : error).split('\n')
  return /ENOSPC|No space left/.test(text) ? 'no space is left on the disk' : text
}
