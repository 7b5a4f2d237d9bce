import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageFolder } from '../../scripts/demo/paths.ts'
import { pythonWith } from '../engines/environment.ts'
import { output } from '../engines/meltano/command.ts'
import type { Trial } from './trial.ts'

const REQUIREMENTS = ['cyclonedx-python-lib[json-validation]==11.12.0']

/** The bill of materials, judged by the library of those who define its form. */
export async function tryBillOfMaterials({ folder, project, step }: Trial): Promise<void> {
  await step('npm run sbom prints a CycloneDX document', async () => {
    const args = ['run', '--silent', 'sbom']
    const file = join(folder, 'sbom.cdx.json')
    writeFileSync(file, await output({ program: 'npm', args, folder: project }))
    const program = join(packageFolder, 'integration-tests/packages/validate_sbom.py')
    const interpreter = pythonWith('cyclonedx', REQUIREMENTS)
    await output({ program: interpreter, args: [program, file], folder })
  })
}
