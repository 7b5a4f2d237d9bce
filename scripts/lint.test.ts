import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'

const biome = createRequire(import.meta.url).resolve('@biomejs/biome/bin/biome')

let clone: string
beforeEach(() => {
  clone = mkdtempSync(join(tmpdir(), 'clone-'))
  for (const file of ['biome.json', '.gitignore', 'package.json']) cpSync(file, join(clone, file))
})
afterEach(() => rmSync(clone, { recursive: true }))

function write(path: string, text: string): void {
  mkdirSync(dirname(join(clone, path)), { recursive: true })
  writeFileSync(join(clone, path), text)
}

function lint(): void {
  execFileSync(process.execPath, [biome, 'ci', '.'], { cwd: clone, stdio: 'pipe' })
}

it.each([
  '.meltano/loaders/target-postgres/venv/lib/fetch_worker.js',
  'meltano-output/jsonl/people.json',
  'demo-output/catalog.json',
  'dist/src/Odd_Name.js',
  'node_modules/a/index.js',
])('npm run lint passes over %s, which a program has made', (path) => {
  write(path, 'var a = {b:1')
  expect(lint).not.toThrow()
})

it('npm run lint finds a file of the repository at fault', () => {
  write('src/odd.ts', 'var a = {b:1')
  expect(lint).toThrow('Command failed')
})
