import {
  chmodSync,
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  fsyncSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { ConnectorError } from '../../ground/errors.ts'
import { notOwn, ownFile, removeLeft, temporaryBeside } from '../../ground/private-file.ts'

/** Nobody can write into a copy; its owner decides who else reads it. */
const MODE = 0o400

/** Whether there is anything at the path of a copy; an empty file is nothing. */
export function isTaken(copy: string): boolean {
  return (statSync(copy, { throwIfNoEntry: false })?.size ?? 0) > 0
}

/**
 * Atomically replaces the previous copy of a file, and keeps its mode: processes that read the previous copy
 * continue with it. Nobody may write the file meanwhile. If it throws a ConnectorError, the copy has not
 * changed. If it is the first one, what is there now is of somebody else, who has taken the path since the sync began.
 */
export function publish(file: string, copy: string, isFirst = false): void {
  if (isFirst && isTaken(copy)) throw notACopy(copy, 'remove this one')
  const fresh = temporaryBeside(copy)
  try {
    removeLeft(copy)
    assertNoLog(copy)
    const mode = existsSync(copy) ? statSync(copy).mode & 0o777 : MODE
    copyFileSync(file, fresh, constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL)
    const written = openSync(fresh, 'r+')
    fsyncSync(written)
    closeSync(written)
    chmodSync(fresh, mode)
    ownFile(copy)
    renameSync(fresh, copy)
  } catch (error) {
    rmSync(fresh, { force: true })
    throw unpublished(copy, error)
  }
}

/** Throws a config error for a log beside a copy, which would be read as a part of the next one: no sync writes any. */
export function assertNoLog(copy: string): void {
  const log = `${copy}.wal`
  if (ownFile(log) !== undefined) throw notOwn(log, 'would be read as a part of the copy')
}

/** The error for a path that has something else than a copy. */
export function notACopy(copy: string, otherwise: string): ConnectorError {
  return new ConnectorError(
    'config',
    'not-a-copy',
    `The file given by --publish is not a copy of this warehouse, so it is not replaced: ${copy}. Name another file, or ${otherwise}.`,
  )
}

/** The error for a copy that cannot be written. */
export function unpublished(copy: string, error: unknown): ConnectorError {
  if (error instanceof ConnectorError)
    return new ConnectorError(
      error.failure,
      error.id,
      `The copy given by --publish cannot be written: ${error.message}`,
      { cause: error },
    )
  const { code = '', message } = error as NodeJS.ErrnoException
  return new ConnectorError(
    code === 'ENOSPC' ? 'system' : 'config',
    'copy-not-written',
    `The copy given by --publish cannot be written: ${copy} (${code === '' ? message : code}).`,
    { cause: error },
  )
}
