import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'

/** The table of docs/architecture.md: a folder of `src`, or one file of it, and what it may import. */
const table = new Map(
  [...readFileSync('docs/architecture.md', 'utf8').matchAll(/^\| `([\w./-]+)` \| (.*) \|$/gm)].map(
    ([, from = '', cell = '']) => [from, [...cell.matchAll(/`(.+?)`/g)].map(([, to = '']) => to)],
  ),
)

const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter(
  (path) => /\.ts$/.test(path) && !/\.(test|thorough)\.ts$|\/testing\/|\/wasm\//.test(path),
)

/** What a file of `src` imports, as paths below it; `..` for what is outside of it. */
function importsOf(file: string): string[] {
  const text = readFileSync(join('src', file), 'utf8')
  return [...text.matchAll(/\b(?:from|import|import\()\s*'(\.[^']+)'/g)].map(([, to = '']) =>
    join(dirname(file), to),
  )
}

const folderOf = (path: string) => path.split('/')[0] as string

function isAllowed(from: string, to: string): boolean {
  const allowed = [...(table.get(folderOf(from)) ?? []), ...(table.get(from) ?? [])]
  return allowed.includes(folderOf(to)) || allowed.includes(to)
}

describe('a folder of src imports only what docs/architecture.md says', () => {
  test.each([...new Set(files.map(folderOf))])('%s', (folder) => {
    const arrows = files
      .filter((file) => folderOf(file) === folder)
      .flatMap((from) => importsOf(from).map((to) => ({ from, to })))
      .filter(({ from, to }) => folderOf(to) !== folderOf(from))
    expect(table.has(folder)).toBe(true)
    expect(arrows.filter(({ from, to }) => !isAllowed(from, to))).toEqual([])
  })

  test.each([
    ['http/client.ts', 'warehouse/warehouse.ts'],
    ['sync/run.ts', 'cli/main.ts'],
    ['page/page-scanner.ts', 'write/writer.ts'],
    ['config/config.ts', 'sync/run.ts'],
  ])('%s may not import %s', (from, to) => {
    expect(isAllowed(from, to)).toBe(false)
  })
})

test('only landings.ts knows where rows can land', () => {
  const isOfEngine = (path: string) => /^warehouse\/\w+\//.test(path)
  const arrows = files
    .flatMap((from) => importsOf(from).map((to) => ({ from, to })))
    .filter(({ from, to }) => isOfEngine(to) && dirname(to) !== dirname(from))
  expect(arrows).not.toEqual([])
  expect(arrows.filter(({ from }) => from !== 'warehouse/landings.ts')).toEqual([])
  const users = (packages: RegExp) =>
    new Set(
      files
        .filter((file) => packages.test(readFileSync(join('src', file), 'utf8')))
        .map((file) => dirname(file)),
    )
  expect(users(/(from|import\() *'@duckdb\//)).toEqual(new Set(['warehouse/duckdb']))
  expect(users(/(from|import\() *'pg['-]/)).toEqual(new Set(['warehouse/postgres']))
})

test('no two files of src export a type of one name', () => {
  const places = new Map<string, string[]>()
  for (const file of files) {
    const text = readFileSync(join('src', file), 'utf8')
    for (const [, name = ''] of text.matchAll(/^export (?:type|interface|class) (\w+)/gm))
      places.set(name, [...(places.get(name) ?? []), file])
  }
  expect([...places].filter(([, { length }]) => length > 1)).toEqual([])
})

/** How many files of one folder stand on each other at most: the longest way of imports within it. */
function floorsOf(folder: string): number {
  const own = files.filter((file) => dirname(file) === folder)
  const below = new Map(own.map((file) => [file, importsOf(file).filter((to) => own.includes(to))]))
  const height = (file: string): number =>
    1 + Math.max(0, ...(below.get(file) ?? []).map((to) => height(to)))
  return Math.max(...own.map(height))
}

test.each([...new Set(files.map((file) => dirname(file)))])(
  '%s has at most nine floors',
  (folder) => {
    expect(floorsOf(folder)).toBeLessThanOrEqual(9)
  },
)

test('no file that is written by hand has more than 400 lines', () => {
  const written = ['src', 'emulator', 'integration-tests', 'scripts', 'bench'].flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((path) => /\.m?[jt]s$/.test(path))
      .map((path) => join(folder, path)),
  )
  const lines = (path: string) => readFileSync(path, 'utf8').trimEnd().split('\n').length
  expect(written.filter((path) => lines(path) > 400)).toEqual([])
})
