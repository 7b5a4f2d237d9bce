import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { warnOfReaders } from './private-file.ts'

async function warningsOf(mode: number | undefined): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'protime-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'config.json')
  if (mode !== undefined) {
    writeFileSync(path, '{}')
    chmodSync(path, mode)
  }
  const warnings: string[] = []
  await warnOfReaders(path, { warn: (text) => warnings.push(text.replace(path, 'config.json')) })
  return warnings
}

it.each([0o644, 0o604, 0o602, 0o666])(
  'warns of a file that every user reaches: %o',
  async (mode) => {
    expect(await warningsOf(mode)).toEqual([
      'Every user of this machine can read config.json. Run chmod o-rwx on it.',
    ])
  },
)

it.each([0o600, 0o400, 0o640, 0o440, undefined])(
  'says nothing of one that owner and group alone reach, or that is not there: %o',
  async (mode) => {
    expect(await warningsOf(mode)).toEqual([])
  },
)
