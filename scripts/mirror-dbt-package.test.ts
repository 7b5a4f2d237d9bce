import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { temporaryFolder } from '../integration-tests/testing/files.ts'

let folder: ReturnType<typeof temporaryFolder>
let mirror: string
beforeEach(() => {
  folder = temporaryFolder()
  mirror = join(folder.path, 'mirror.git')
  run('git', 'init', '--quiet', '--bare', '--initial-branch=main', mirror)
})
afterEach(() => folder.remove())

function run(program: string, ...args: readonly string[]): string {
  return execFileSync(program, args, { cwd: folder.path, encoding: 'utf8' })
}

/** Pushes a release with these files to the mirror; answers with what was said. */
function release(tag: string, files: Readonly<Record<string, string>>): string {
  const name = `dbt-protime-${tag}`
  mkdirSync(join(folder.path, name, 'models'), { recursive: true })
  for (const [path, text] of Object.entries(files))
    writeFileSync(join(folder.path, name, path), text)
  run('tar', '-czf', `${name}.tar.gz`, name)
  const script = join(process.cwd(), 'scripts/mirror-dbt-package.sh')
  return run('bash', script, `${name}.tar.gz`, mirror, tag)
}

/** The files of a revision of the mirror. */
function filesOf(revision: string): string[] {
  return run('git', '-C', mirror, 'ls-tree', '-r', '--name-only', revision).trim().split('\n')
}

it('the mirror has a commit and a tag per release, with the files of the archive at its root', () => {
  const first = { 'dbt_project.yml': 'version: 1.0.0', 'models/old.sql': 'select 1' }
  expect(release('v1.0.0', first)).toBe('v1.0.0 was pushed to the mirror.\n')
  release('v1.1.0', { 'dbt_project.yml': 'version: 1.1.0', 'models/new.sql': 'select 2' })
  expect([filesOf('v1.0.0'), filesOf('v1.1.0')]).toEqual([
    ['dbt_project.yml', 'models/old.sql'],
    ['dbt_project.yml', 'models/new.sql'],
  ])
  expect(run('git', '-C', mirror, 'rev-list', '--count', 'main')).toBe('2\n')
  expect(run('git', '-C', mirror, 'show', 'main:dbt_project.yml')).toBe('version: 1.1.0')
})

it('a release that the mirror already has is not changed', () => {
  release('v1.0.0', { 'dbt_project.yml': 'version: 1.0.0' })
  expect(release('v1.0.0', { 'dbt_project.yml': 'another' })).toBe('The mirror has v1.0.0.\n')
  expect(run('git', '-C', mirror, 'show', 'v1.0.0:dbt_project.yml')).toBe('version: 1.0.0')
})
