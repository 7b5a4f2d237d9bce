import { closeSync, openSync, writeSync } from 'node:fs'
import { ConnectorError } from '../protocol/errors.ts'
import type { Outcome } from '../write/outcome.ts'

/** The file that rejected records are appended to, one JSON line each, to be mended and written again. */
export interface RejectedRecords {
  /** Keeps a record until its outcome is told. */
  remember(ordinal: number, data: Readonly<Record<string, unknown>>): void
  /** Appends the record of an outcome, with why it was rejected. */
  write(outcome: Outcome): void
  /** Ends the wait for an outcome. */
  forget(ordinal: number): void
  close(): void
}

/** Without a file, nothing is kept. The file is for its owner alone: records may name people. */
export function createRejectedRecords(path: string | undefined): RejectedRecords {
  if (path === undefined) return { remember() {}, write() {}, forget() {}, close() {} }
  const file = open(path)
  const records = new Map<number, Readonly<Record<string, unknown>>>()
  return {
    remember: (ordinal, data) => void records.set(ordinal, data),
    write({ ordinal = 0, object, reason, status }) {
      writeSync(
        file,
        `${JSON.stringify({ object, reason, status, record: records.get(ordinal) })}\n`,
      )
    },
    forget: (ordinal) => void records.delete(ordinal),
    close: () => closeSync(file),
  }
}

function open(path: string): number {
  try {
    return openSync(path, 'a', 0o600)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new ConnectorError(
      'config',
      `The file given by rejected_records cannot be written (${code}): ${path}.`,
    )
  }
}
