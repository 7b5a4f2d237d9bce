import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { packageVersion } from '../../src/ground/project-files.ts'
import { expectSame, output } from '../engines/command.ts'
import { packedWheel, pythonWith } from '../engines/python.ts'
import { startTenant } from '../engines/tenant.ts'
import { createSteps } from '../steps.ts'
import { tryNpmPackage } from './npm-package.ts'
import { copyProject, leftBehind, packedArchive, type Trial } from './trial.ts'
import { tryWheel } from './wheel-package.ts'

/** Builds twice, and packs for npm and for pip what each build has made; answers whether that succeeded. */
async function packTwice({ project, step, note }: Trial): Promise<boolean> {
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

const REQUIREMENTS = ['cyclonedx-python-lib[json-validation]==11.12.0']

/** A program of Python that ends with the reason when a file is no CycloneDX document. */
const VALIDATE = `import sys

from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

sys.exit(JsonStrictValidator(SchemaVersion.V1_6).validate_str(open(sys.argv[1], encoding="utf-8").read()))`

/** The bill of materials, judged by the library of those who define its form. */
async function tryBillOfMaterials({ folder, project, step }: Trial): Promise<void> {
  await step('npm run sbom prints a CycloneDX document', async () => {
    const args = ['run', '--silent', 'sbom']
    const file = join(folder, 'sbom.cdx.json')
    writeFileSync(file, await output({ program: 'npm', args, folder: project }))
    const interpreter = pythonWith('cyclonedx', REQUIREMENTS)
    await output({ program: interpreter, args: ['-c', VALIDATE, file], folder })
  })
}

/** `npm run test:packages`: packs for npm and pip, installs both, and uses what was installed. */
async function main(): Promise<void> {
  const { step, note, end } = createSteps()
  const folder = mkdtempSync(join(tmpdir(), 'packages-'))
  const project = join(folder, 'project')
  const tenant = await startTenant()
  try {
    mkdirSync(project)
    copyProject(project)
    const trial = { project, folder, tenant, step, note }
    if (await packTwice(trial)) {
      await tryNpmPackage(trial)
      await tryBillOfMaterials(trial)
      await tryWheel(trial)
    }
  } finally {
    await tenant.emulator.close()
    rmSync(folder, { recursive: true, force: true })
  }
  end()
}

await main()
