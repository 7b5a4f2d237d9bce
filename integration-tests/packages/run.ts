import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { output } from '../engines/command.ts'
import { pythonWith } from '../engines/python.ts'
import { startTenant } from '../engines/tenant.ts'
import { createSteps } from '../steps.ts'
import { tryNpmPackage } from './npm-package.ts'
import { copyProject, type Trial } from './trial.ts'
import { packTwice } from './two-builds.ts'
import { tryWheel } from './wheel-package.ts'

const REQUIREMENTS = ['cyclonedx-python-lib[json-validation]==11.12.0']

/** A program of Python that ends with the reason when a file is no CycloneDX document. */
const VALIDATE = `import sys

from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

sys.exit(JsonStrictValidator(SchemaVersion.V1_6).validate_str(open(sys.argv[1], encoding="utf-8").read()))`

/** The bill of materials, judged by the library of those who define its form. */
export async function tryBillOfMaterials({ folder, project, step }: Trial): Promise<void> {
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
