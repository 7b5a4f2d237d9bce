import { once } from 'node:events'
import { readdirSync, renameSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { temporaryFolder } from '../../integration-tests/testing/files.ts'
import { LockedError, lockFile } from './process-lock.ts'

const WORDS = { subject: 'The store', user: 'program', advice: 'Wait.' }

function emptyFolder(): string {
  const { path, remove } = temporaryFolder()
  onTestFinished(remove)
  return path
}

/** Leaves the socket of a process that was killed, to which nobody can connect. */
async function leaveSocket(path: string): Promise<void> {
  const server = createServer().listen(`${path}.new`)
  await once(server, 'listening')
  renameSync(`${path}.new`, path)
  server.close()
  await once(server, 'close')
}

it('of those that lock a file at the same instant, after a kill too, exactly one has it', async () => {
  for (let times = 0; times < 10; times++) {
    const folder = emptyFolder()
    const file = join(folder, 'store.json')
    await leaveSocket(`${file}.0123456789abcdef.lock`)
    const tried = await Promise.allSettled(Array.from({ length: 4 }, () => lockFile(file, WORDS)))
    const locks = tried.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
    expect(locks).toHaveLength(1)
    for (const one of tried)
      if (one.status === 'rejected') expect(one.reason).toBeInstanceOf(LockedError)
    expect(readdirSync(folder)).toHaveLength(1)
    await locks[0]?.release()
    expect(readdirSync(folder)).toEqual([])
  }
})
