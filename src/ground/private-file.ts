import { randomBytes } from 'node:crypto'
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  type Stats,
} from 'node:fs'
import { type FileHandle, link, open, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { isMainThread } from 'node:worker_threads'
import { ConnectorError } from './errors.ts'
import { type IdentifiedMessage, warningOf } from './message-ids.ts'

/**
 * What is at a path that is about to be written or trusted; undefined if there is nothing. Throws a config error unless
 * it is a regular file of this user: in a folder that they share, others can put links, pipes and files of their own.
 */
export function ownFile(path: string): Stats | undefined {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (found !== undefined) assertOwn(path, found, found.isFile(), 'is no regular file')
  return found
}

/**
 * Opens a file of this user, or creates one that only this user can read; `flags` are those of the system. Throws what
 * `ownFile` throws, and the system's error.
 */
export function openOwnFile(path: string, flags: number): number {
  ownFile(path)
  // What was put there since is not followed, and does not block.
  const { O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants
  const file = openSync(path, flags | O_NOFOLLOW | O_NONBLOCK, MODE)
  try {
    const found = fstatSync(file)
    assertOwn(path, found, found.isFile(), 'is no regular file')
    return file
  } catch (error) {
    closeSync(file)
    throw error
  }
}

/** The text of a file of this user; undefined if there is none. Throws what `openOwnFile` throws. */
export function readOwnFile(path: string): string | undefined {
  if (ownFile(path) === undefined) return undefined
  const file = openOwnFile(path, constants.O_RDONLY)
  try {
    return readFileSync(file, 'utf8')
  } finally {
    closeSync(file)
  }
}

/** Creates a folder that only this user can read, if there is none. Throws a config error for anything else that is there. */
export function ownFolder(path: string): void {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (found === undefined) mkdirSync(path, { mode: 0o700 })
  else assertOwn(path, found, found.isDirectory(), 'is no folder')
}

/**
 * The file behind a path that a person has named, which may be a symbolic link of that person. So temporary files are
 * created beside the file itself and replace it, not the link. Throws a config error for a link of another user.
 */
export function resolvedFile(path: string): string {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (found?.isSymbolicLink() !== true) return path
  if (!isOwn(found)) throw notOwn(path, OF_ANOTHER)
  return existsSync(path) ? realpathSync(path) : resolve(dirname(path), readlinkSync(path))
}

/** Only the owner can read it. */
const MODE = 0o600
const OF_ANOTHER = 'belongs to another user'

function assertOwn(path: string, found: Stats, isExpected: boolean, otherwise: string): void {
  if (found.isSymbolicLink()) throw notOwn(path, 'is a symbolic link')
  if (!isExpected) throw notOwn(path, otherwise)
  if (!isOwn(found)) throw notOwn(path, OF_ANOTHER)
}

/** Root can change every file anyway. Windows has no owners as numbers. */
function isOwn({ uid }: Stats): boolean {
  return uid === 0 || process.geteuid === undefined || uid === process.geteuid()
}

/** The error for a file that is there, and is not known to be ours. */
export function notOwn(path: string, what: string): ConnectorError {
  return new ConnectorError(
    'config',
    'file-not-own',
    `${path} ${what}, so it is neither read nor written. Move it, or name another file.`,
  )
}

/**
 * A free name for something temporary beside a path. It is created exclusively, and nobody else gives such names: what has
 * one is ours, and nothing else beside a path is ever removed.
 */
export function temporaryBeside(path: string): string {
  return `${path}${TEMPORARY}${randomBytes(6).toString('hex')}`
}

const TEMPORARY = '.protime-'

/** Whether a path has a name that `temporaryBeside` gives beside another one; by default, beside any. */
export function isTemporary(path: string, beside?: string): boolean {
  const at = path.lastIndexOf(TEMPORARY)
  const isFree = at > 0 && /^[0-9a-f]{12}$/.test(path.slice(at + TEMPORARY.length))
  return isFree && (beside === undefined || path.slice(0, at) === beside)
}

/**
 * Removes what killed processes have left beside a path, but `kept`, which is in use. Nobody else may be writing that path
 * meanwhile.
 */
export function removeLeft(path: string, kept?: string): void {
  const folder = dirname(path)
  for (const name of namesIn(folder)) {
    const left = join(folder, name)
    if (!isTemporary(name, basename(path)) || name === (kept && basename(kept))) continue
    const found = lstatSync(left, { throwIfNoEntry: false })
    if (found !== undefined && isOwn(found)) rmSync(left, { recursive: true, force: true })
  }
}

/** The names in a folder; none if this user may write there, but not list it. */
function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EACCES') throw error
    return []
  }
}

/**
 * Checks that a new file of this name can be created, and leaves nothing behind. Rejects with the system's error,
 * such as EEXIST.
 */
export async function checkNewFile(path: string): Promise<void> {
  await (await open(path, 'wx', MODE)).close()
  await rm(path)
}

/** The errors of file systems without hard links. */
const NO_LINKS: readonly string[] = ['EPERM', 'ENOTSUP', 'ENOSYS', 'EOPNOTSUPP']

/**
 * Creates a file that only its owner can read. Either the whole file exists afterwards or none, and an existing file
 * is never overwritten. Rejects with the system's error, such as EEXIST.
 */
export async function createPrivateFile(path: string, text: string): Promise<void> {
  removeLeft(path)
  const fresh = temporaryBeside(path)
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
 * Creates or replaces a file that only its owner can read, in one step that survives a power failure. Rejects with what
 * `ownFile` throws, or the system's error; then the file is unchanged. No other process may replace it at the same time.
 */
export async function replacePrivateFile(path: string, text: string): Promise<void> {
  ownFile(path)
  removeLeft(path)
  const fresh = temporaryBeside(path)
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
  const file = await open(path, 'wx', MODE)
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
 * ignored, and so is a folder: its mode is not ours to judge.
 */
export async function warnOfReaders(
  path: string,
  log: { warn(message: IdentifiedMessage): void },
): Promise<void> {
  // Windows has no file modes.
  if (process.platform === 'win32') return
  const found = await stat(path).catch(() => undefined)
  if (found?.isFile() === true && (found.mode & OPEN_TO_OTHERS) !== 0)
    log.warn(
      warningOf(
        'readable-by-others',
        `Every user of this machine can read ${path}. Run chmod o-rwx on it.`,
      ),
    )
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

/** How much private work is under way in this process, and the mask of before. */
const underWay = { count: 0, mask: 0 }

/** Does work in which every file that anything creates can be read by its owner alone. Such works may overlap. */
export function privately<T>(work: () => Promise<T>): Promise<T> {
  // A worker cannot change what belongs to its process.
  if (!isMainThread) return work()
  if (underWay.count++ === 0) underWay.mask = process.umask(0o077)
  return work().finally(() => {
    if (--underWay.count === 0) process.umask(underWay.mask)
  })
}
