import { chownSync, cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { installText } from '../../scripts/guide-blocks.ts'
import { baseImages } from '../../scripts/pins.ts'
import { packageFolder, packageVersion } from '../../src/ground/project-files.ts'
import { expectSame } from '../engines/command.ts'
import type { Tenant } from '../engines/tenant.ts'
import type { Steps } from '../steps.ts'
import { verifiedDifferences } from '../testing/protime.ts'
import { type Buildah, HOME, type ImageConfig, runContained, type Sandbox } from './container.ts'

/** The stand-in for the official image of Node. */
export const BASE = 'localhost/node-stand-in'
export const IMAGE = 'localhost/source-protime'
export const DESTINATION = 'localhost/destination-protime'

/** Lets the stand-in be each image of a registry that a Dockerfile names. */
function onStandIn(dockerfile: string): string[] {
  const text = readFileSync(join(packageFolder(), dockerfile), 'utf8')
  return baseImages(text).map((image) => `--build-context=${image}=container-image://${BASE}`)
}

/** What is built of the Dockerfile. */
interface Build {
  readonly version?: string
  readonly target?: readonly string[]
  /** Uses no layer that another build has made. */
  readonly isAnew?: boolean
}

/** The id of the image that the Dockerfile makes; the same files have the same id. */
export async function build(
  buildah: Buildah,
  { version = packageVersion(), target = ['--tag', IMAGE], isAnew = false }: Build = {},
): Promise<string> {
  const certificates = process.env['NODE_EXTRA_CA_CERTS']
  const secret = certificates === undefined ? [] : ['--secret', `id=ca,src=${certificates}`]
  const cache = ['--layers', ...(isAnew ? ['--no-cache'] : [])]
  const fixed = ['--pull-never', ...cache, '--timestamp', '1', '--identity-label=false']
  const given = [...onStandIn('Dockerfile'), '--build-arg', `VERSION=${version}`]
  await buildah.run('bud', ...fixed, ...secret, ...given, ...target, packageFolder())
  return (await buildah.run('images', '--no-trunc', '--quiet', target.at(-1) ?? IMAGE)).trim()
}

/** The digests of the layers of an image. */
async function layersOf(buildah: Buildah, image: string): Promise<readonly string[]> {
  const { OCIv1 } = JSON.parse(await buildah.run('inspect', '--type', 'image', image)) as {
    OCIv1: { rootfs: { diff_ids: readonly string[] } }
  }
  return OCIv1.rootfs.diff_ids
}

/** What an image says of itself; throws where that is not as platforms expect it. */
export async function configOf(
  buildah: Buildah,
  image = IMAGE,
  program = 'source-protime',
): Promise<ImageConfig> {
  const { OCIv1 } = JSON.parse(await buildah.run('inspect', '--type', 'image', image)) as {
    OCIv1: { config: ImageConfig }
  }
  const { config } = OCIv1
  const { User, Entrypoint, Env, Labels } = config
  expectSame(
    {
      User,
      Entrypoint,
      asked: Env.find((one) => one.startsWith('AIRBYTE_ENTRYPOINT=')),
      name: Labels['io.airbyte.name'],
      version: Labels['io.airbyte.version'],
      title: Labels['org.opencontainers.image.title'],
      release: Labels['org.opencontainers.image.version'],
      licence: Labels['org.opencontainers.image.licenses'],
      source: Labels['org.opencontainers.image.source'],
      revision: Labels['org.opencontainers.image.revision'],
    },
    {
      User: '1000:1000',
      Entrypoint: [`${HOME}/bin/${program}`],
      asked: `AIRBYTE_ENTRYPOINT=${HOME}/bin/${program}`,
      name: program,
      version: packageVersion(),
      title: program,
      release: packageVersion(),
      licence: 'MIT',
      source: 'https://github.com/source-protime/source-protime',
      revision: 'unknown',
    },
  )
  return config
}

/** Where the files of an image can be seen, in a container of their own. */
export async function mounted(buildah: Buildah, image: string): Promise<string> {
  const container = (await buildah.run('from', '--pull-never', image)).trim()
  return (await buildah.run('mount', container)).trim()
}

const SYNC_IMAGE = 'localhost/protime-sync'
const USER = 1000

export interface Given {
  readonly buildah: Buildah
  readonly tenant: Tenant
  readonly folder: string
}

/** Builds the image with DuckDB, and loads a tenant as a pod does. */
export async function trySyncImage(given: Given, { step }: Steps): Promise<void> {
  const { buildah, tenant, folder } = given
  tenant.emulator.clearFaults()
  const target = ['--target', 'sync', '--tag', SYNC_IMAGE]
  const id = await step('the image with DuckDB', () => build(buildah, { target }))
  if (id === undefined) return
  await step('the same image with DuckDB once more, from the beginning', async () =>
    same(await build(buildah, { target, isAnew: true }), id),
  )
  await step('and with it all that the image without DuckDB has', async () => {
    const [layers, all] = [await layersOf(buildah, IMAGE), await layersOf(buildah, SYNC_IMAGE)]
    same([layers.length > 0, layers.filter((layer) => !all.includes(layer))], [true, []])
  })
  const sandbox = await open(buildah, folder)
  const volume = join(folder, 'warehouses')
  mkdirSync(volume)
  chownSync(volume, USER, USER)
  const file = join(sandbox.source, 'config.json')
  writeFileSync(file, JSON.stringify(tenant.config))
  const sync = async () => {
    const args = ['--config', '/source/config.json', '--warehouse', '/warehouses/demo.duckdb']
    const { exitCode, stdout, stderr } = await runContained(
      sandbox,
      [...sandbox.config.Entrypoint, ...args],
      { folders: { '/warehouses': volume } },
    )
    if (exitCode !== 0) throw new Error(`exit code ${exitCode}\n${stdout}\n${stderr}`.slice(-2000))
    const words = ['--warehouse', join(volume, 'demo.duckdb')]
    const found = await verifiedDifferences(tenant.config, ...words)
    same(found.slice(0, 5), [])
  }
  await step('a pod makes the warehouse equal to the service', sync)
  await step('the next pod does it again, from the state in the warehouse', async () => {
    tenant.emulator.randomChanges({ inserts: 20, updates: 20, deletes: 20, softDeletes: 2 })
    await sync()
  })
  await step('the line of docs/install.md makes a warehouse beside its configuration', async () => {
    const [, words = ''] = /protime-sync:[\d.]+(.*)/.exec(installText('sh', 'duckdb')) ?? []
    const data = join(folder, 'data')
    mkdirSync(data)
    cpSync(file, join(data, 'config.json'))
    for (const path of [data, join(data, 'config.json')]) chownSync(path, USER, USER)
    const place = { ...sandbox, config: { ...sandbox.config, WorkingDir: '/data' } }
    const { exitCode, stderr } = await runContained(
      place,
      [...sandbox.config.Entrypoint, ...words.split(' ').filter(Boolean)],
      { folders: { '/data': data } },
    )
    if (exitCode !== 0) throw new Error(stderr)
    const made = join(data, 'protime.duckdb')
    same(await verifiedDifferences(tenant.config, '--warehouse', made), [])
  })
  await step('a wrong secret ends with 2, which no job tries again', async () => {
    writeFileSync(file, JSON.stringify({ ...tenant.config, client_secret: 'wrong' }))
    const args = ['--config', '/source/config.json', '--warehouse', '/warehouses/wrong.duckdb']
    const { exitCode } = await runContained(sandbox, [...sandbox.config.Entrypoint, ...args], {
      folders: { '/warehouses': volume },
    })
    same(exitCode, 2)
  })
}

async function open(buildah: Buildah, folder: string): Promise<Sandbox> {
  const { OCIv1 } = JSON.parse(await buildah.run('inspect', '--type', 'image', SYNC_IMAGE)) as {
    OCIv1: { config: ImageConfig }
  }
  const container = (await buildah.run('from', '--pull-never', SYNC_IMAGE)).trim()
  const root = (await buildah.run('mount', container)).trim()
  // The kernel makes no mount points in a root that is read-only.
  const source = join(folder, 'sync-source')
  mkdirSync(source)
  return { root, config: OCIv1.config, source, folder }
}

function same(actual: unknown, expected: unknown): void {
  const [given, wanted] = [JSON.stringify(actual), JSON.stringify(expected)]
  if (given !== wanted) throw new Error(`${given} instead of ${wanted}`)
}
