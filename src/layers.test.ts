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
  (path) => /\.ts$/.test(path) && !/\.test\.ts$|\/testing\/|^page\/wasm\//.test(path),
)

/** The files of other folders that a file imports, as paths below `src`; `..` for what is outside of it. */
function importsOf(file: string): string[] {
  const text = readFileSync(join('src', file), 'utf8')
  return [...text.matchAll(/\b(?:from|import|import\()\s*'(\.[^']+)'/g)]
    .map(([, to = '']) => join(dirname(file), to))
    .filter((to) => folderOf(to) !== folderOf(file))
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

test('no two files of src export a type of one name', () => {
  const places = new Map<string, string[]>()
  for (const file of files) {
    const text = readFileSync(join('src', file), 'utf8')
    for (const [, name = ''] of text.matchAll(/^export (?:type|interface|class) (\w+)/gm))
      places.set(name, [...(places.get(name) ?? []), file])
  }
  expect([...places].filter(([, { length }]) => length > 1)).toEqual([])
})
