import { chmodSync, mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const MEMORY = '/dev/shm'
/** Several times what a run takes. */
const ROOM_BYTES = 2 * 1024 ** 3

/**
 * The temporary files of a run are in one folder, which is removed at its end, whatever a test or a killed process has left.
 * If there is room it is in memory, because databases wait for a disk at each commit.
 */
export function setup() {
  const isChosen = process.env.TMPDIR !== undefined
  const place = isChosen || !hasRoom() ? tmpdir() : MEMORY
  const folder = mkdtempSync(join(place, 'protime-tests-'))
  // PostgreSQL may run as another user.
  chmodSync(folder, 0o711)
  process.env.TMPDIR = folder
  return () => rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
}

function hasRoom() {
  try {
    const { bavail, bsize } = statfsSync(MEMORY)
    return bavail * bsize >= ROOM_BYTES
  } catch {
    return false
  }
}
