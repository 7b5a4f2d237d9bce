import { type FileHandle, open, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { ConnectorError } from '../protocol/errors.ts'

/** A new file for a secret that its owner alone may read. */
export interface KeyFile {
  /** Writes the secret; it is on the disk when this is done. */
  write(key: string): Promise<void>
  /** Removes the file. */
  discard(): Promise<void>
}

/** Makes the file before anything else is done: one that exists is never written over. */
export async function createKeyFile(path: string): Promise<KeyFile> {
  const file = await open(path, 'wx', 0o600).catch((error: NodeJS.ErrnoException) => {
    throw new ConnectorError(
      'config',
      error.code === 'EEXIST'
        ? `The key file exists already: ${path}. Nothing was done; name a new file.`
        : `The key file cannot be made (${error.code}): ${path}. Nothing was done.`,
    )
  })
  return {
    async write(key) {
      try {
        await file.writeFile(key)
        await file.sync()
      } finally {
        await file.close()
      }
      await syncFolder(dirname(path))
    },
    async discard() {
      await file.close()
      await rm(path, { force: true })
    },
  }
}

/** The name of a new file is on the disk when its folder is. */
async function syncFolder(path: string): Promise<void> {
  let folder: FileHandle | undefined
  try {
    folder = await open(path, 'r')
    await folder.sync()
  } catch (error) {
    // Windows, and some file systems over a network, have no such thing.
    const { code } = error as NodeJS.ErrnoException
    if (!['EISDIR', 'EPERM', 'EINVAL', 'EACCES'].includes(code ?? '')) throw error
  } finally {
    await folder?.close()
  }
}
