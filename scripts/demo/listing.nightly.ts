import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { temporaryFolder } from '../../integration-tests/testing/files.ts'
import { missingPieces, runDemo, shownPieces } from './listing.ts'
import { packageFolder } from './paths.ts'

const DEMO_MS = 600_000

let folder: ReturnType<typeof temporaryFolder>
let printed: string
beforeAll(async () => {
  folder = temporaryFolder()
  printed = await runDemo(folder.path)
}, DEMO_MS)
afterAll(() => folder.remove())

it('README shows what the demo prints, but for the seconds', () => {
  const withoutSeconds = (text: string) => text.replaceAll(/[\d.]+ s\b/g, '0 s')
  const pieces = shownPieces('npm ci && npm run demo')
  expect(missingPieces(pieces, printed, withoutSeconds)).toEqual([])
})

const questions = ['README.md', 'docs/warehouse.md'].map((page) => {
  const question = /```sql demo\n(.*?)```\n\n```\n(.*?)```/s
  const [, sql = '', answer = ''] = question.exec(readFileSync(page, 'utf8')) ?? []
  return [page, sql, answer] as const
})

it.each(questions)('%s shows what the warehouse answers', async (_page, sql, answer) => {
  const env = { ...process.env, DEMO_OUTPUT: folder.path }
  const program = ['dist/scripts/ask.js', sql]
  const { stdout } = await promisify(execFile)(process.execPath, program, { env })
  expect(stdout).toBe(answer)
})

it('the picture of README shows the words of protime sync, here of a small tenant', async () => {
  const file = join(folder.path, 'sync.svg')
  const program = join(packageFolder, 'dist/scripts/picture.js')
  await promisify(execFile)(process.execPath, [program, file, '60', '1'])
  const words = (picture: string) =>
    readFileSync(picture, 'utf8')
      .replaceAll(/[\d.,]+/g, '0')
      .replaceAll(/ +/g, ' ')
  expect(words(file)).toBe(words('docs/sync.svg'))
})
