import { existsSync, realpathSync } from 'node:fs'
import { type FileHandle, open, rename, rm, stat } from 'node:fs/promises'
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

/**
 * Replaces a file, or makes it, in one step that survives a loss of power; its owner alone may read it.
 * Rejects with the system's error, and the file is as it was.
 */
export async function replacePrivateFile(path: string, text: string): Promise<void> {
  const fresh = `${path}.new`
  // A crash may have left one.
  await rm(fresh, { force: true })
  await (await createPrivateFile(fresh)).write(text)
  try {
    await rename(fresh, path)
  } catch (error) {
    await rm(fresh, { force: true })
    throw error
  }
  await syncFolder(dirname(path))
}

/** Others than owner and group may read or write. */
const OPEN_TO_OTHERS = 0o006

/** Warns of a file that holds secrets or personal data and that every user of the machine can read; one that is missing is none. */
export async function warnOfReaders(
  path: string,
  log: { warn(message: string): void },
): Promise<void> {
  // Windows has no such modes.
  if (process.platform === 'win32') return
  const { mode } = await stat(path).catch(() => ({ mode: 0 }))
  if ((mode & OPEN_TO_OTHERS) !== 0)
    log.warn(`Every user of this machine can read ${path}. Run chmod o-rwx on it.`)
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

/** The file that a path leads to, by links perhaps: what is beside it, and takes its place, is not beside the link. */
export function fileBehind(path: string): string {
  return existsSync(path) ? realpathSync(path) : path
}
