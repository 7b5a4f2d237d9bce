import {
  accessSync,
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
import { dirname, resolve } from 'node:path'
import { ConnectorError } from '../ground/errors.ts'

/** Nobody can write into a copy; its owner decides who else reads it. */
const MODE = 0o400

/** The names of the files that DuckDB and a sync create beside a warehouse. */
const BESIDE = ['.wal', '.tmp', '.sync', '.rewrite', '.rewrite.wal', '.rewrite.sync']

/** Throws a config error if the file cannot be copied to this path. */
export function assertPublishable(file: string, copy: string): void {
  if (resolve(file) === resolve(copy))
    throw new ConnectorError(
      'config',
      'published-onto-itself',
      `The file given by --publish is the warehouse itself: ${copy}. Name another file for the copy.`,
    )
  const taken = BESIDE.find((ending) => resolve(`${file}${ending}`) === resolve(copy))
  if (taken !== undefined)
    throw new ConnectorError(
      'config',
      'published-onto-itself',
      `The file given by --publish has the name of a file that a sync makes beside the warehouse: ${copy}. Name another file for the copy.`,
    )
  try {
    accessSync(dirname(copy), constants.W_OK)
    if (existsSync(copy) && statSync(copy).isDirectory()) throw new Error('it is a folder')
  } catch (error) {
    throw unpublished(copy, error)
  }
}

/**
 * Atomically replaces the previous copy of a file, and keeps its mode: processes that read the previous copy
 * continue with it. Nobody may write the file meanwhile. If it throws a ConnectorError, the copy has not
 * changed.
 */
export function publish(file: string, copy: string): void {
  const fresh = `${copy}.new`
  try {
    const mode = existsSync(copy) ? statSync(copy).mode & 0o777 : MODE
    rmSync(fresh, { force: true })
    copyFileSync(file, fresh, constants.COPYFILE_FICLONE)
    const written = openSync(fresh, 'r+')
    fsyncSync(written)
    closeSync(written)
    chmodSync(fresh, mode)
    renameSync(fresh, copy)
  } catch (error) {
    rmSync(fresh, { force: true })
    throw unpublished(copy, error)
  }
}

function unpublished(copy: string, error: unknown): ConnectorError {
  const { code = '', message } = error as NodeJS.ErrnoException
  return new ConnectorError(
    code === 'ENOSPC' ? 'system' : 'config',
    'copy-not-written',
    `The copy given by --publish cannot be written: ${copy} (${code === '' ? message : code}).`,
    { cause: error },
  )
}
