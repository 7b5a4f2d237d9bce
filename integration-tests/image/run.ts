import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { packageVersion } from '../../src/project-files.ts'
import { expectSame } from '../answers.ts'
import { startTenant, type Tenant } from '../engines/tenant.ts'
import { createSteps, type Steps } from '../steps.ts'
import { type Buildah, openStorage, whyNoImages } from './buildah.ts'
import { filesOf, judgeFiles } from './files.ts'
import { BASE, build, configOf, DESTINATION, IMAGE, mounted } from './image.ts'
import { tryPlatform } from './platform.ts'
import { writeStandIn } from './stand-in.ts'
import { trySyncImage } from './sync-image.ts'

/** `npm run test:image`: builds the Dockerfile and tries the image as a platform does. */
async function main(): Promise<void> {
  const reason = whyNoImages()
  if (reason !== undefined) {
    process.stdout.write(`skipped: ${reason}\n`)
    return
  }
  const steps = createSteps()
  const folder = mkdtempSync(join(tmpdir(), 'image-'))
  const buildah = openStorage(folder)
  const tenant = await startTenant()
  try {
    await tried(buildah, tenant, folder, steps)
    await trySyncImage({ buildah, base: BASE, connector: IMAGE, tenant, folder }, steps)
  } finally {
    await tenant.emulator.close()
    await buildah.clear()
    rmSync(folder, { recursive: true, force: true })
  }
  steps.end()
}

async function tried(buildah: Buildah, tenant: Tenant, folder: string, { step, note }: Steps) {
  const isBuilt = await step('a base from the files of this machine', async () => {
    writeStandIn(join(folder, 'base'))
    await buildah.run('bud', '--quiet', '--tag', BASE, join(folder, 'base'))
    return true
  })
  if (!isBuilt) return
  const id = await step('the image', () => build(buildah))
  if (id === undefined) return
  await step('the same image once more', async () => expectSame(await build(buildah), id))
  await step('no image of another version', async () => {
    const said = await build(buildah, '9.9.9').catch(String)
    if (!said.includes(`--build-arg VERSION=${packageVersion()}`)) throw new Error(said)
  })
  const config = await step('names, labels, user and entry point', () => configOf(buildah))
  if (config === undefined) return
  await step('the same programs as a destination', async () => {
    await build(buildah, packageVersion(), ['--target', 'destination', '--tag', DESTINATION])
    await configOf(buildah, DESTINATION, 'destination-protime')
  })
  const root = await mounted(buildah, IMAGE)
  const base = await mounted(buildah, BASE)
  const bytes = await step('nothing that does not belong', () =>
    judgeFiles(filesOf(root), filesOf(base)),
  )
  note(`${bytes} bytes above the base, image id ${id}`)
  const source = join(folder, 'source')
  mkdirSync(source)
  chmodSync(source, 0o755)
  await tryPlatform({ root, config, source, folder }, tenant, { step, note })
}

await main()
