import { randomBytes } from 'node:crypto'
import { existsSync, realpathSync } from 'node:fs'
import { type FileHandle, link, open, rename, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'

/**
 * Checks that a new file of this name can be created, and leaves nothing behind. Rejects with the system's error,
 * such as EEXIST.
 */
export async function checkNewFile(path: string): Promise<void> {
  await (await open(path, 'wx', 0o600)).close()
  await rm(path)
}

/** The errors of file systems without hard links. */
const NO_LINKS: readonly string[] = ['EPERM', 'ENOTSUP', 'ENOSYS', 'EOPNOTSUPP']

/**
 * Creates a file that only its owner can read. Either the whole file exists afterwards or none, and an existing file
 * is never overwritten. Rejects with the system's error, such as EEXIST.
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
 * Creates or replaces a file that only its owner can read, in one step that survives a power failure. Rejects with
 * the system's error; then the file is unchanged.
 */
export async function replacePrivateFile(path: string, text: string): Promise<void> {
  const fresh = `${path}.new`
  // A crash may have left this file.
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

/** Creates a file and waits until the text is on the disk; if this fails, there is no file. */
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

/** The bits by which users other than owner and group may read or write. */
const OPEN_TO_OTHERS = 0o006

/**
 * Warns if every user of the machine can read or write a file that holds secrets or personal data. A missing file is
 * ignored.
 */
export async function warnOfReaders(
  path: string,
  log: { warn(message: string): void },
): Promise<void> {
  // Windows has no file modes.
  if (process.platform === 'win32') return
  const { mode } = await stat(path).catch(() => ({ mode: 0 }))
  if ((mode & OPEN_TO_OTHERS) !== 0)
    log.warn(`Every user of this machine can read ${path}. Run chmod o-rwx on it.`)
}

/** Writes the folder to the disk, and with it the names of new files. */
async function syncFolder(path: string): Promise<void> {
  let folder: FileHandle | undefined
  try {
    folder = await open(path, 'r')
    await folder.sync()
  } catch (error) {
    // Windows and some network file systems cannot sync a folder.
    const { code } = error as NodeJS.ErrnoException
    if (!['EISDIR', 'EPERM', 'EINVAL', 'EACCES'].includes(code ?? '')) throw error
  } finally {
    await folder?.close()
  }
}

/**
 * Resolves symbolic links, so that temporary files are created beside the file itself and replace it, not the link.
 */
export function resolvedFile(path: string): string {
  return existsSync(path) ? realpathSync(path) : path
}
