import { createHash } from 'node:crypto'
import { access, constants } from 'node:fs/promises'
import { join } from 'node:path'
import { ConnectorError } from '../ground/errors.ts'
import { LockedError, lockFile, type ProcessLock } from '../ground/process-lock.ts'
import type { ObjectName } from './objects.ts'

/**
 * Lets no other process on this machine write an object of a tenant by a lock in the same folder: two that create
 * at once make everything twice. Throws a LockedError while one does. There is no lock where the folder cannot be
 * written or has no sockets, or where there is none.
 */
export async function lockObject(
  folder: string | undefined,
  baseUrl: string,
  object: ObjectName,
): Promise<ProcessLock> {
  const none: ProcessLock = { release: async () => {} }
  if (folder === undefined) return none
  const tenant = createHash('sha256').update(baseUrl).digest('hex').slice(0, 12)
  try {
    await access(folder, constants.W_OK)
    return await lockFile(join(folder, `protime-write.${object}.${tenant}`), {
      subject: `The lock of ${object} to this tenant`,
      user: 'process',
      advice: 'Nothing was written. Start this run again when that one has ended.',
    })
  } catch (error) {
    if (error instanceof LockedError) throw error
    // What is mounted for a container may be read-only, or know no sockets.
    if (error instanceof ConnectorError || (error as NodeJS.ErrnoException).code !== undefined)
      return none
    throw error
  }
}
