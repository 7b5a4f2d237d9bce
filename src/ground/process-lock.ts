import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { constants } from 'node:fs'
import { access, open, readdir, rename, rm } from 'node:fs/promises'
import { connect, createServer, type Server } from 'node:net'
import { hostname } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { ConnectorError } from './errors.ts'

/** A file, or what it stands for, that no other process on this machine may write. */
export interface ProcessLock {
  release(): Promise<void>
}

/** How messages speak of what is locked. */
export interface LockWords {
  /** Such as `The store /var/lib/hooks.json`. */
  readonly subject: string
  /** Who else uses it, such as `protime webhooks serve`. */
  readonly user: string
  /** What to do while another process has it, in a sentence. */
  readonly advice: string
}

/** Another process has the lock. */
export class LockedError extends ConnectorError {
  override name = 'LockedError'
}

/** Who answers at a lock. */
interface Owner {
  readonly id: string
  readonly isHolder: boolean
  readonly pid: number
  readonly host: string
  readonly since: string
}

/** Whether a process listens at a socket, and which one if it says so. */
type Presence = Owner | 'absent' | 'silent'

/** How long a process may take to say who it is, and a start that is under way to come to its end. */
const ANSWER_MS = 5000
const ASK_AGAIN_MS = 50

/**
 * Locks a file, which need not exist. Each process listens at a socket of its own beside it, and only then looks for the
 * sockets of others: of two processes, at least one sees the other. The kernel refuses connections to the
 * socket of a dead process, whatever it died of, so what is left of one is told apart and removed. Of
 * processes that start at the same time, the one with the smallest random id goes on. Throws a LockedError
 * while another process has the lock, and a config error when the folder cannot be written or has no sockets.
 */
export async function lockFile(path: string, words: LockWords): Promise<ProcessLock> {
  // There sockets have no names in folders.
  if (process.platform === 'win32') return { release: async () => {} }
  const folder = await openFolder(path, words)
  const id = randomBytes(8).toString('hex')
  const own = `${basename(path)}.${id}.lock`
  const owner = { id, pid: process.pid, host: hostname(), since: new Date().toISOString() }
  let isHolder = false
  const server = createServer((socket) => {
    // Whoever asked may have gone, or be suspended: nobody waits for them.
    socket.on('error', () => {}).unref()
    socket.end(JSON.stringify({ ...owner, isHolder }))
  })
  const release = async () => {
    await rm(folder.path(own), { force: true })
    server.close()
    await folder.close()
  }
  try {
    await appear(server, own)
    await waitForOthers()
    isHolder = true
    return { release }
  } catch (error) {
    await release()
    throw error
  }

  /** Its name is there only when it can be connected to: one that cannot counts as dead. */
  async function appear(server: Server, name: string): Promise<void> {
    try {
      server.listen({ path: folder.path(`${name}.new`), writableAll: true }).unref()
      await once(server, 'listening')
      await rename(folder.path(`${name}.new`), folder.path(name))
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      throw new ConnectorError(
        'config',
        'not-locked',
        `${words.subject} cannot be locked (${code}). Put it on a file system that has Unix sockets, such as a local disk.`,
      )
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
        name !== own,
    )
  }

  async function presence(name: string): Promise<Presence> {
    const found = await ask(folder.path(name))
    // The name is of that process alone, so nobody else can have taken it meanwhile.
    if (found === 'absent') await rm(folder.path(name), { force: true })
    return found
  }
}

/** The folder of a file, with addresses for sockets in it. */
async function openFolder(file: string, { subject }: LockWords) {
  const folder = dirname(file)
  try {
    await access(folder, constants.W_OK)
    const handle = await open(folder, 'r')
    // An address has about 100 bytes, and a longer one is cut off; on Linux an open folder has a short name.
    const short = process.platform === 'linux' ? `/proc/self/fd/${handle.fd}` : folder
    return { path: (name: string) => join(short, name), close: () => handle.close() }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new ConnectorError(
      'config',
      'lock-not-written',
      `${subject} cannot be written (${code}). Name a file in a folder that this user may write.`,
    )
  }
}

async function ask(address: string): Promise<Presence> {
  const socket = connect(address)
  const patience = AbortSignal.timeout(ANSWER_MS)
  patience.addEventListener('abort', () => socket.destroy(new Error('no answer')), { once: true })
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
      ? `Another process has locked ${lowered(subject)}, and does not answer.`
      : `Another ${user} uses ${lowered(subject)}: process ${who.pid} on host ${who.host}, since ${who.since}.`
  return new LockedError('config', 'in-use', `${what} ${advice}`)
}

function lowered(subject: string): string {
  return subject.charAt(0).toLowerCase() + subject.slice(1)
}
