import { randomBytes } from 'node:crypto'
import { existsSync, realpathSync } from 'node:fs'
import { type FileHandle, link, open, rename, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'

/** Rejects with the system's error, such as EEXIST, where no new file of this name can be made; leaves nothing behind. */
export async function checkNewFile(path: string): Promise<void> {
  await (await open(path, 'wx', 0o600)).close()
  await rm(path)
}

/** Of file systems without a second name for a file. */
const NO_LINKS: readonly string[] = ['EPERM', 'ENOTSUP', 'ENOSYS', 'EOPNOTSUPP']

/**
 * Makes a file with a text, readable by its owner alone, in one step: there is a whole one or none. One that exists is
 * never written over. Rejects with the system's error, such as EEXIST.
 */
export async function createPrivateFile(path: string, text: string): Promise<void> {
  const fresh = `${path}.${randomBytes(6).toString('hex')}.new`
  await writeNew(fresh, text)
  try {
    await link(fresh, path)
  } catch (error) {
    if (!NO_LINKS.includes((error as NodeJS.ErrnoException).code ?? '')) throw error
    await writeNew(path, text)
  } finally {
    await rm(fresh, { force: true })
  }
  await syncFolder(dirname(path))
}

/**
 * Replaces a file, or makes it, in one step that survives a loss of power; its owner alone may read it.
 * Rejects with the system's error, and the file is as it was.
 */
export async function replacePrivateFile(path: string, text: string): Promise<void> {
  const fresh = `${path}.new`
  // A crash may have left one.
  await rm(fresh, { force: true })
  await writeNew(fresh, text)
  try {
    await rename(fresh, path)
  } catch (error) {
    await rm(fresh, { force: true })
    throw error
  }
  await syncFolder(dirname(path))
}

/** The text is on the disk when this is done; if it fails, there is no file. */
async function writeNew(path: string, text: string): Promise<void> {
  const file = await open(path, 'wx', 0o600)
  try {
    await file.writeFile(text)
    await file.sync()
  } catch (error) {
    await rm(path, { force: true })
    throw error
  } finally {
    await file.close()
  }
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
