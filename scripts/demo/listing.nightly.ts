import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { dbtPython } from '../../integration-tests/engines/python.ts'
import { temporaryFolder } from '../../integration-tests/testing/files.ts'
import { packageFolder } from '../../src/ground/project-files.ts'
import { table } from './warehouse.ts'

/**
 * The output of a command that docs/install.md shows, split into pieces where it writes `...` for lines that it leaves out.
 */
function shownPieces(command: string): string[] {
  const guide = readFileSync(join(packageFolder(), 'docs/install.md'), 'utf8')
  const [, listing = ''] = guide.split(`\n$ ${command}\n`)
  const [shown = ''] = listing.split('\n```')
  return shown.split(/\n *\.\.\.\n/)
}

/** Runs the demo with these options and its files in a folder; answers with what it prints. */
async function runDemo(folder: string, ...options: readonly string[]): Promise<string> {
  const program = [join(packageFolder(), 'dist/scripts/demo.js'), ...options]
  const env = { ...process.env, DEMO_OUTPUT: folder }
  const { stdout } = await promisify(execFile)(process.execPath, program, { env })
  return stdout
}

/** The pieces that a text does not contain in this order, after `mask` was applied to both. */
function missingPieces(
  pieces: readonly string[],
  text: string,
  mask: (text: string) => string,
): string[] {
  let rest = mask(text)
  return pieces.map(mask).filter((piece) => {
    const at = rest.indexOf(piece)
    rest = rest.slice(at + piece.length)
    return at < 0
  })
}

const DEMO_MS = 600_000

let folder: ReturnType<typeof temporaryFolder>
let printed: string
beforeAll(async () => {
  folder = temporaryFolder()
  printed = await runDemo(folder.path)
}, DEMO_MS)
afterAll(() => folder.remove())

it('docs/install.md shows what the demo prints, but for the seconds', () => {
  const withoutSeconds = (text: string) => text.replaceAll(/[\d.]+ s\b/g, '0 s')
  const pieces = shownPieces('npm ci && npm run demo')
  expect(missingPieces(pieces, printed, withoutSeconds)).toEqual([])
})

/** The query that a page shows, and the answer below it. */
function question(page: string): readonly [string, string] {
  const found = /```sql dbt\n(.*?)```\n\n```\n(.*?)```/s.exec(readFileSync(page, 'utf8'))
  const [, sql = '', answer = ''] = found ?? []
  return [sql, answer]
}

/** Runs a program of the scripts, with the demo's files in the folder; answers with what it prints. */
async function script(...program: readonly string[]): Promise<string> {
  const env = { ...process.env, DEMO_OUTPUT: folder.path }
  return (await promisify(execFile)(process.execPath, program, { env })).stdout
}

const ASK = `import duckdb, json, sys
answer = duckdb.connect(sys.argv[1], read_only=True).execute(sys.argv[2])
print(json.dumps([[column[0] for column in answer.description], answer.fetchall()]))`

/** What the models answer, as `npm run ask` would print it. */
async function answerOf(sql: string): Promise<string> {
  const program = ['-c', ASK, join(folder.path, 'dbt', 'analytics', 'analytics.duckdb'), sql]
  const { stdout } = await promisify(execFile)(dbtPython(), program)
  const [head, rows] = JSON.parse(stdout) as [string[], unknown[][]]
  return `${table(
    head,
    rows.map((row) => row.map(String)),
  )}\n`
}

it(
  'README shows what the models of dbt answer, which a page documents',
  async () => {
    const page =
      (await script('dist/scripts/demo/warehouse.js', 'dbt-site')).trim().split('\n').at(-1) ?? ''
    const [sql, answer] = question('README.md')
    expect(await answerOf(sql)).toBe(answer)
    expect(readFileSync(join(packageFolder(), page), 'utf8')).toContain('protime__person_history')
  },
  DEMO_MS,
)

it('the picture of README shows the words of protime sync, here of a small tenant', async () => {
  const file = join(folder.path, 'sync.svg')
  const program = join(packageFolder(), 'dist/scripts/picture.js')
  await promisify(execFile)(process.execPath, [program, file, '60', '1'])
  const words = (picture: string) =>
    readFileSync(picture, 'utf8')
      .replaceAll(/[\d.,]+/g, '0')
      .replaceAll(/ +/g, ' ')
  expect(words(file)).toBe(words('docs/sync.svg'))
})
