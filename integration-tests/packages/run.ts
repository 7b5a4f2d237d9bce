import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startTenant } from '../engines/tenant.ts'
import { createSteps } from '../steps.ts'
import { tryBillOfMaterials } from './bill-of-materials.ts'
import { tryNpmPackage } from './npm-package.ts'
import { copyProject } from './project-copy.ts'
import { tryWheel } from './wheel-package.ts'

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
    await tryNpmPackage(trial)
    await tryBillOfMaterials(trial)
    await tryWheel(trial)
  } finally {
    await tenant.emulator.close()
    rmSync(folder, { recursive: true, force: true })
  }
  end()
}

await main()
