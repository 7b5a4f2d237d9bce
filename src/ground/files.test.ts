import { once } from 'node:events'
import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { temporaryFolder } from '../../integration-tests/testing/files.ts'
import { withId } from './message-ids.ts'
import { warnOfReaders } from './private-file.ts'
import { LockedError, lockFile } from './process-lock.ts'

async function warningsOf(mode: number | undefined): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'protime-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'config.json')
  if (mode !== undefined) {
    writeFileSync(path, '{}')
    chmodSync(path, mode)
  }
  const warnings: string[] = []
  await warnOfReaders(path, {
    warn: (message) => warnings.push(withId(message).replace(path, 'config.json')),
  })
  return warnings
}

it.each([0o644, 0o604, 0o602, 0o666])(
  'warns of a file that every user reaches: %o',
  async (mode) => {
    expect(await warningsOf(mode)).toEqual([
      'Every user of this machine can read config.json. Run chmod o-rwx on it. [readable-by-others]',
    ])
  },
)

it.each([0o600, 0o400, 0o640, 0o440, undefined])(
  'says nothing of one that owner and group alone reach, or that is not there: %o',
  async (mode) => {
    expect(await warningsOf(mode)).toEqual([])
  },
)

it('says nothing of a folder, such as that of temporary files, which all may read', async () => {
  const warn = () => expect.unreachable()
  await warnOfReaders('/', { warn })
})

const WORDS = { subject: 'The store', user: 'program', advice: 'Wait.' }

function emptyFolder(): string {
  const { path, remove } = temporaryFolder()
  onTestFinished(remove)
  return path
}

/** Leaves the socket of a killed process, which refuses connections. */
async function leaveSocket(path: string): Promise<void> {
  const server = createServer().listen(`${path}.new`)
  await once(server, 'listening')
  renameSync(`${path}.new`, path)
  server.close()
  await once(server, 'close')
}

it('if several processes lock a file at the same instant, even after a kill, exactly one gets it', async () => {
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

it('leaves what has the name of a lock and is no socket', async () => {
  const file = join(emptyFolder(), 'store.json')
  const planted = `${file}.0123456789abcdef.lock`
  writeFileSync(planted, 'mine')
  const lock = await lockFile(file, WORDS)
  expect(readFileSync(planted, 'utf8')).toBe('mine')
  await lock.release()
})
