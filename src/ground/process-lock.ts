import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { constants, lstatSync } from 'node:fs'
import { access, open, readdir, rename, rm } from 'node:fs/promises'
import { connect, createServer, type Server } from 'node:net'
import { hostname } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { ConnectorError } from './errors.ts'

/** A lock on a file; no other process of this machine can have it at the same time. */
export interface ProcessLock {
  release(): Promise<void>
}

/** How messages name the locked file and its user. */
export interface LockWords {
  /** For example `The store /var/lib/hooks.json`. */
  readonly subject: string
  /** The program that uses it, for example `protime webhooks serve`. */
  readonly user: string
  /** One sentence that says what to do while another process has the lock. */
  readonly advice: string
}

/** Another process has the lock. */
export class LockedError extends ConnectorError {
  override name = 'LockedError'
}

/** What a process says of itself at its socket. */
interface Owner {
  readonly id: string
  readonly isHolder: boolean
  readonly pid: number
  readonly host: string
  readonly since: string
}

/** Whether a process listens at a socket; if it says so, which one. */
type Presence = Owner | 'absent' | 'silent'

/** How long a process has to identify itself, and how long a process that is starting has to finish. */
const ANSWER_MS = 5000
const ASK_AGAIN_MS = 50

/**
 * Locks a file, which need not exist. Each process listens at its own socket beside the file, and only then looks for
 * other sockets: of two processes, at least one sees the other. The kernel refuses connections to the socket of a
 * dead process, whatever it died of, so leftover sockets are recognized and removed. If several processes start at
 * the same time, the one with the smallest random id gets the lock. Throws a LockedError while another process has
 * the lock, a config error if the folder cannot be written or does not support sockets, and a transient one while the
 * system has no room.
 */
export async function lockFile(path: string, words: LockWords): Promise<ProcessLock> {
  // On Windows, sockets have no names in folders.
  if (process.platform === 'win32') return { release: async () => {} }
  const folder = await openFolder(path, words)
  const id = randomBytes(8).toString('hex')
  const own = `${basename(path)}.${id}.lock`
  const owner = { id, pid: process.pid, host: hostname(), since: new Date().toISOString() }
  let isHolder = false
  const server = createServer((socket) => {
    // The asking process may be gone or suspended; nothing waits for it.
    socket.on('error', () => {}).unref()
    socket.end(JSON.stringify({ ...owner, isHolder }))
  })
  const release = async () => {
    await rm(folder.path(own), { force: true })
    server.close()
    await folder.close()
  }
  try {
    await startListening(server, own)
    await waitForOthers()
    isHolder = true
    return { release }
  } catch (error) {
    await release()
    throw error
  }

  /**
   * Listens under a temporary name and then renames the socket: a socket that refuses connections would count as
   * dead.
   */
  async function startListening(server: Server, name: string): Promise<void> {
    try {
      server.listen({ path: folder.path(`${name}.new`), writableAll: true }).unref()
      await once(server, 'listening')
      await rename(folder.path(`${name}.new`), folder.path(name))
    } catch (error) {
      const advice = 'Put it on a file system that has Unix sockets, such as a local disk.'
      const { code } = error as NodeJS.ErrnoException
      throw notLocked('not-locked', code, `${words.subject} cannot be locked (${code}).`, advice)
    }
  }

  async function waitForOthers(): Promise<void> {
    const late = performance.now() + ANSWER_MS
    for (;;) {
      const others = (await Promise.all((await locks()).map(presence))).filter(
        (one) => one !== 'absent',
      )
      if (others.length === 0) return
      const isLate = performance.now() > late
      const first = others.find(
        (one) => isLate || (one !== 'silent' && (one.isHolder || one.id < id)),
      )
      if (first !== undefined) throw inUse(words, first)
      await sleep(ASK_AGAIN_MS)
    }
  }

  async function locks(): Promise<string[]> {
    const prefix = `${basename(path)}.`
    const names = await readdir(dirname(path))
    return names.filter(
      (name) =>
        name.startsWith(prefix) &&
        /^[0-9a-f]{16}\.lock$/.test(name.slice(prefix.length)) &&
        name !== own &&
        // Nothing else of this name is asked, or removed.
        lstatSync(folder.path(name), { throwIfNoEntry: false })?.isSocket() === true,
    )
  }

  async function presence(name: string): Promise<Presence> {
    const found = await ask(folder.path(name))
    // Only that process could have this name, so no other process can have taken it since.
    if (found === 'absent') await rm(folder.path(name), { force: true })
    return found
  }
}

/** Opens the folder of a file, and returns addresses for sockets in it. */
async function openFolder(file: string, { subject }: LockWords) {
  const folder = dirname(file)
  try {
    await access(folder, constants.W_OK)
    const handle = await open(folder, 'r')
    // A socket address can have about 100 bytes, and a longer one is cut off. On Linux, an open folder has a short
    // path.
    const short = process.platform === 'linux' ? `/proc/self/fd/${handle.fd}` : folder
    return { path: (name: string) => join(short, name), close: () => handle.close() }
  } catch (error) {
    const advice = 'Name a file in a folder that this user may write.'
    const { code } = error as NodeJS.ErrnoException
    throw notLocked('lock-not-written', code, `${subject} cannot be written (${code}).`, advice)
  }
}

/** What a system says that has no room at the moment, whatever the folder is. */
const PASSING: readonly unknown[] = ['ENOSPC', 'EDQUOT', 'EMFILE', 'ENFILE', 'ENOMEM', 'EIO']

function notLocked(
  id: 'not-locked' | 'lock-not-written',
  code: string | undefined,
  what: string,
  advice: string,
): ConnectorError {
  return PASSING.includes(code)
    ? new ConnectorError('transient', id, `${what} Try again when there is room.`)
    : new ConnectorError('config', id, `${what} ${advice}`)
}

async function ask(address: string): Promise<Presence> {
  const socket = connect(address)
  const patience = AbortSignal.timeout(ANSWER_MS)
  patience.addEventListener('abort', () => socket.destroy(new Error('no response')), { once: true })
  try {
    return JSON.parse(await text(socket)) as Owner
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return code === 'ECONNREFUSED' || code === 'ENOENT' ? 'absent' : 'silent'
  } finally {
    socket.destroy()
  }
}

function inUse({ subject, user, advice }: LockWords, who: Owner | 'silent'): LockedError {
  const what =
    who === 'silent'
      ? `Another process has locked ${lowerFirst(subject)}, and does not respond.`
      : `Another ${user} uses ${lowerFirst(subject)}: process ${who.pid} on host ${who.host}, since ${who.since}.`
  return new LockedError('transient', 'locked', `${what} ${advice}`)
}

function lowerFirst(subject: string): string {
  return subject.charAt(0).toLowerCase() + subject.slice(1)
}
