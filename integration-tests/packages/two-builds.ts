import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { packageVersion } from '../../src/ground/project-files.ts'
import { expectSame, output } from '../engines/command.ts'
import { packedWheel } from '../engines/python.ts'
import { leftBehind, type Trial } from './trial.ts'

/** The package for npm; the wheel is where `packedWheel` finds it. */
export function packedArchive(project: string): string {
  return join(project, `source-protime-${packageVersion()}.tgz`)
}

/** Builds twice, and packs for npm and for pip what each build has made; answers whether that succeeded. */
export async function packTwice({ project, step, note }: Trial): Promise<boolean> {
  // What an earlier build has left of a file that is gone.
  mkdirSync(join(project, 'dist/src'), { recursive: true })
  writeFileSync(join(project, 'dist/src/stale.js'), '')
  const archive = packedArchive(project)
  const npm = (...args: readonly string[]) => output({ program: 'npm', args, folder: project })
  const digests = () =>
    [archive, packedWheel(project)].map((file) =>
      createHash('sha256').update(readFileSync(file)).digest('hex'),
    )
  const first = await step(
    'npm pack builds, and prints the name of the package alone',
    async () => {
      expectSame(await npm('pack'), `${basename(archive)}\n`)
      await output({
        program: process.execPath,
        args: ['dist/scripts/packages.js', 'wheel'],
        folder: project,
      })
      return digests()
    },
  )
  if (first === undefined) return false
  for (const [i, file] of [archive, packedWheel(project)].entries())
    note(`${basename(file)}: ${readFileSync(file).length} bytes, ${first[i]}`)
  await step('npm run pack:wheel builds, and prints where the wheel is', async () => {
    const said = await npm('run', '--silent', 'pack:wheel')
    expectSame(said.trim().split('\n').at(-1), packedWheel(project))
    expectSame(
      basename(packedWheel(project)),
      `source_protime-${packageVersion()}-py3-none-any.whl`,
    )
  })
  await step('both builds make the same package for npm, and the same wheel', async () => {
    await npm('pack', '--ignore-scripts')
    expectSame(digests(), first)
  })
  await step('packing leaves nothing behind', () => expectSame(leftBehind(project), ''))
  return true
}
