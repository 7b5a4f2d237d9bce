import { onTestFinished } from 'vitest'
import { startTenant } from '../engines/tenant.ts'
import { temporaryFolder } from './files.ts'

/** A tenant and an empty folder, until the test ends. */
export async function startTenantInFolder() {
  const { path: folder, remove } = temporaryFolder()
  onTestFinished(remove)
  const tenant = await startTenant()
  onTestFinished(() => tenant.emulator.close())
  return { folder, tenant }
}
