import { expect, it, onTestFinished } from 'vitest'
import { temporaryFolder } from '../../integration-tests/testing/files.ts'
import { missingPieces, runDemo, shownPieces } from './listing.ts'

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
