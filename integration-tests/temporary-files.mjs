import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** The temporary files of a run are in one folder, which is removed at its end, whatever a test or a killed process has left. */
export function setup() {
  const folder = mkdtempSync(join(tmpdir(), 'protime-tests-'))
  // PostgreSQL may run as another user.
  chmodSync(folder, 0o711)
  process.env.TMPDIR = folder
  return () => rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
}
