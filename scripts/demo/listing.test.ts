import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it, onTestFinished } from 'vitest'
import { temporaryFolder } from '../../integration-tests/testing/files.ts'
import { missingPieces, runDemo, shownPieces } from './listing.ts'
import { packageFolder } from './paths.ts'

it('README shows the words of the demo, here of a small tenant', async () => {
  const { path, remove } = temporaryFolder()
  onTestFinished(remove)
  const printed = await runDemo(path, '--people', '10', '--months', '1')
  const pieces = shownPieces('npm ci && npm run demo')
  expect(pieces.length).toBeGreaterThan(4)
  const withoutNumbers = (text: string) =>
    text.replaceAll(/\d[\d,.]*/g, '0').replaceAll(/[ -]+/g, ' ')
  expect(missingPieces(pieces, printed, withoutNumbers)).toEqual([])
  // Six programs, one after the other.
}, 120_000)

it('the picture of README shows the words of protime sync, here of a small tenant', async () => {
  const { path, remove } = temporaryFolder()
  onTestFinished(remove)
  const file = join(path, 'sync.svg')
  const program = join(packageFolder, 'dist/scripts/picture.js')
  await promisify(execFile)(process.execPath, [program, file, '60', '1'])
  const words = (picture: string) =>
    readFileSync(picture, 'utf8')
      .replaceAll(/[\d.,]+/g, '0')
      .replaceAll(/ +/g, ' ')
  expect(words(file)).toBe(words('docs/sync.svg'))
}, 60_000)
