import { execFileSync } from 'node:child_process'
import { appendFileSync, cpSync, existsSync, mkdirSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { packageFolder, packageVersion } from '../../src/ground/project-files.ts'
import type { Tenant } from '../engines/tenant.ts'
import type { Steps } from '../steps.ts'

/** What the trial of a package works with. */
export interface Trial extends Pick<Steps, 'step' | 'note'> {
  /** A copy of the project to pack in. */
  readonly project: string
  /** An empty folder, removed at the end. */
  readonly folder: string
  readonly tenant: Tenant
}

/** The package for npm; the wheel is where `packedWheel` finds it. */
export function packedArchive(project: string): string {
  return join(project, `source-protime-${packageVersion()}.tgz`)
}

/**
 * A clone of the project as it lies here, with what is not committed yet, so that packing takes away
 * no `dist/` that somebody else runs.
 */
export function copyProject(folder: string): void {
  const listed = git(
    packageFolder(),
    'ls-files',
    '-z',
    '--cached',
    '--others',
    '--exclude-standard',
  )
  for (const path of listed.split('\0').filter(Boolean)) {
    if (!existsSync(join(packageFolder(), path))) continue
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    cpSync(join(packageFolder(), path), join(folder, path))
  }
  symlinkSync(join(packageFolder(), 'node_modules'), join(folder, 'node_modules'))
  git(folder, 'init', '--quiet')
  // A link is no folder, and .gitignore speaks of the folder.
  appendFileSync(join(folder, '.git/info/exclude'), 'node_modules\n')
  git(folder, 'add', '--all')
}

/** What packing has left behind: files that git sees as new or changed. */
export function leftBehind(folder: string): string {
  return git(folder, 'status', '--porcelain', '--untracked-files=all')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('A  '))
    .join('\n')
}

function git(cwd: string, ...args: readonly string[]): string {
  return execFileSync('git', args, { cwd, encoding: 'utf8', maxBuffer: 1e8 })
}
