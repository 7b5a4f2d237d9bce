import { createHash } from 'node:crypto'
import { access, constants, realpath, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Config } from '../config/config.ts'
import { ConnectorError } from '../ground/errors.ts'
import { isJsonObject, tryParseJson } from '../ground/json.ts'
import { readOwnFile, replacePrivateFile } from '../ground/private-file.ts'
import { lockFile, type ProcessLock } from '../ground/process-lock.ts'
import type { ObjectName } from './objects.ts'

/** A value and the id of its record. */
type JournalLink = readonly [value: string, id: string]

/** Links that are deleted to make room for others. */
export interface Move {
  readonly kind: 'move'
  readonly collection: string
  readonly name: string
  readonly old: readonly JournalLink[]
  readonly wanted: readonly JournalLink[]
}

/** A work location that was requested and perhaps created. */
export interface PendingCreation {
  readonly kind: 'creation'
  /** The custom reference that it is to get. */
  readonly reference: string
  readonly value: string
  /** The default name of the work location. */
  readonly name: string
}

type JournalEntry = Move | PendingCreation

/** What a run has begun and not finished. A run that finds entries of an earlier one finishes their work. */
export interface Journal {
  readonly entries: readonly JournalEntry[]
  /** Resolves when the entry is on the disk. */
  add(entry: JournalEntry): Promise<void>
  remove(entry: JournalEntry): Promise<void>
  /** Where it is kept; undefined if it ends with the process. */
  readonly path: string | undefined
}

/** Creates a journal with these entries; without a path it ends with the process. */
export function createJournal(left: readonly JournalEntry[] = [], path?: string): Journal {
  let entries = left
  let writing = Promise.resolve()
  return {
    path,
    get entries() {
      return entries
    },
    add: (entry) => replace([...entries, entry]),
    remove: (entry) => replace(entries.filter((one) => one !== entry)),
  }

  function replace(next: readonly JournalEntry[]): Promise<void> {
    entries = next
    // Later writes contain the entries of the earlier ones.
    if (path !== undefined) writing = writing.then(() => writeEntries(path, entries))
    return writing
  }
}

async function writeEntries(path: string, entries: readonly JournalEntry[]): Promise<void> {
  try {
    if (entries.length === 0) await rm(path, { force: true })
    else await replacePrivateFile(path, `${JSON.stringify({ version: 1, entries })}\n`)
  } catch (error) {
    throw unusable(path, `cannot be written (${(error as NodeJS.ErrnoException).code})`)
  }
}

function readEntries(path: string): readonly JournalEntry[] {
  let text: string | undefined
  try {
    text = readOwnFile(path)
  } catch (error) {
    if (error instanceof ConnectorError) throw error
    throw unusable(path, `cannot be read (${(error as NodeJS.ErrnoException).code})`)
  }
  if (text === undefined) return []
  const journal = tryParseJson(text)
  const entries = isJsonObject(journal) && journal['version'] === 1 ? journal['entries'] : undefined
  if (!Array.isArray(entries) || !entries.every(isEntry)) throw unusable(path, 'is damaged')
  return entries
}

function isEntry(entry: unknown): entry is JournalEntry {
  if (!isJsonObject(entry)) return false
  const { kind, collection, name, old, wanted, reference, value } = entry
  return kind === 'move'
    ? areTexts([collection, name]) && [old, wanted].every(areLinks)
    : kind === 'creation' && areTexts([reference, value, name])
}

function areLinks(links: unknown): boolean {
  return Array.isArray(links) && links.every((link) => Array.isArray(link) && areTexts(link))
}

function areTexts(values: readonly unknown[]): boolean {
  return values.every((value) => typeof value === 'string')
}

function unusable(path: string, what: string): ConnectorError {
  return new ConnectorError(
    'config',
    'journal-not-usable',
    `The journal ${path} ${what}. It has what an earlier run has begun: links that it may have deleted, and work locations that it may have created. Give this user access to it; or check these by hand, and delete it.`,
  )
}

/**
 * Locks an object of a tenant against other processes on this machine, beside the given file, and opens its journal
 * there: two processes that create work locations at the same time would create everything twice. Throws a LockedError
 * if the lock is taken, and another transient error while the system has no room for one. There is neither if the folder
 * is not writable, does not support sockets, or does not exist.
 */
export async function openObject(
  beside: string | undefined,
  { tenant, baseUrl }: Pick<Config, 'tenant' | 'baseUrl'>,
  object: ObjectName,
): Promise<ProcessLock & { readonly journal: Journal }> {
  const release = async () => {}
  const folder = beside === undefined ? undefined : await writableFolder(beside)
  if (folder === undefined) return { release, journal: createJournal() }
  const owner = createHash('sha256')
    .update(`${tenant.toLowerCase()} ${baseUrl}`)
    .digest('hex')
    .slice(0, 12)
  const file = join(folder, `protime-write.${object}.${owner}`)
  const lock = await lockFile(file, {
    subject: `The lock of ${object} to this tenant`,
    user: 'process',
    advice: 'Nothing was written. Start this run again when the other one has ended.',
  }).catch((error: unknown) => {
    // A folder that is mounted into a container may not support sockets.
    if (!(error instanceof ConnectorError) || error.failure !== 'config') throw error
  })
  // Without a lock, another process may have the same journal.
  if (lock === undefined) return { release, journal: createJournal() }
  const path = `${file}.journal`
  try {
    return { ...lock, journal: createJournal(readEntries(path), path) }
  } catch (error) {
    await lock.release()
    throw error
  }
}

/** The folder of a file: the one behind its links, so that all of them have the same lock, unless only that of the link is writable. */
async function writableFolder(file: string): Promise<string | undefined> {
  const target = await realpath(file).catch(() => file)
  for (const folder of [dirname(target), dirname(file)]) if (await isWritable(folder)) return folder
  return undefined
}

function isWritable(folder: string): Promise<boolean> {
  return access(folder, constants.W_OK).then(
    () => true,
    () => false,
  )
}
