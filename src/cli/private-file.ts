import { type FileHandle, open, rm } from 'node:fs/promises'
import { dirname } from 'node:path'

/** A new file that its owner alone may read. */
export interface PrivateFile {
  /** Writes the text and closes the file. Both are on the disk when this is done; if it fails, neither is. */
  write(text: string): Promise<void>
  /** Removes the file. */
  discard(): Promise<void>
}

/** Makes the file; one that exists is never written over. Rejects with the system's error, such as EEXIST. */
export async function createPrivateFile(path: string): Promise<PrivateFile> {
  const file = await open(path, 'wx', 0o600)
  return { write, discard }

  async function write(text: string): Promise<void> {
    try {
      await file.writeFile(text)
      await file.sync()
      await file.close()
      await syncFolder(dirname(path))
    } catch (error) {
      await discard()
      throw error
    }
  }

  async function discard(): Promise<void> {
    await file.close()
    await rm(path, { force: true })
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
