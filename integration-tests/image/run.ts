import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { packageFolder } from '../../scripts/demo/paths.ts'
import { packageVersion } from '../../src/project-files.ts'
import { answersOf, catalogOf, countRecords, expectSame, lastStates } from '../answers.ts'
import { startTenant, type Tenant } from '../engines/tenant.ts'
import { createSteps, type Steps } from '../steps.ts'
import { type Buildah, openStorage, whyNoImages } from './buildah.ts'
import { type ImageConfig, runContained, type Sandbox } from './container.ts'
import { filesOf, type ImageFile } from './files.ts'
import { writeStandIn } from './stand-in.ts'

const BASE = 'localhost/node-stand-in'
const IMAGE = 'localhost/source-protime'
const HOME = '/airbyte/integration_code'
const LARGEST_BYTES = 8_000_000
/** What a platform waits between SIGTERM and SIGKILL is at least three times this. */
const SOON_MS = 3000

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
  const root = await mounted(buildah, IMAGE)
  const base = await mounted(buildah, BASE)
  const bytes = await step('nothing that does not belong', () =>
    judgeFiles(filesOf(root), filesOf(base)),
  )
  note(`${bytes} bytes above the base, image id ${id}`)
  const source = join(folder, 'source')
  mkdirSync(source)
  chmodSync(source, 0o755)
  await contained({ root, config, source, folder }, tenant, step)
}

/** The id of the image that the Dockerfile makes; the same files have the same id. */
async function build(buildah: Buildah, version = packageVersion()): Promise<string> {
  const certificates = process.env['NODE_EXTRA_CA_CERTS']
  const secret = certificates === undefined ? [] : ['--secret', `id=ca,src=${certificates}`]
  const fixed = ['--pull-never', '--no-cache', '--timestamp', '1', '--identity-label=false']
  const given = ['--build-arg', `NODE_IMAGE=${BASE}`, '--build-arg', `VERSION=${version}`]
  await buildah.run('bud', ...fixed, ...secret, ...given, '--tag', IMAGE, packageFolder)
  return (await buildah.run('images', '--no-trunc', '--quiet', IMAGE)).trim()
}

async function configOf(buildah: Buildah): Promise<ImageConfig> {
  const { OCIv1 } = JSON.parse(await buildah.run('inspect', '--type', 'image', IMAGE)) as {
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
    },
    {
      User: '1000:1000',
      Entrypoint: [`${HOME}/bin/source-protime`],
      asked: `AIRBYTE_ENTRYPOINT=${HOME}/bin/source-protime`,
      name: 'source-protime',
      version: packageVersion(),
      title: 'source-protime',
      release: packageVersion(),
      licence: 'MIT',
    },
  )
  return config
}

async function mounted(buildah: Buildah, image: string): Promise<string> {
  const container = (await buildah.run('from', '--pull-never', image)).trim()
  return (await buildah.run('mount', container)).trim()
}

type Files = ReadonlyMap<string, ImageFile>

/** How many bytes the image has above its base; throws what is wrong with its files. */
function judgeFiles(image: Files, base: Files): number {
  const added = [...image].filter(([path]) => !base.has(path))
  const paths = added.map(([path]) => path)
  const bytes = added.reduce((sum, [, file]) => sum + file.bytes, 0)
  if (bytes > LARGEST_BYTES) throw new Error(`${bytes} bytes above the base`)
  const programs = paths.filter((path) => path.startsWith(`${HOME}/bin/`))
  const links = added.flatMap(([path, { link }]) =>
    path.startsWith('/usr/local/bin/') && link !== undefined ? [link] : [],
  )
  expectSame(links.toSorted(), programs.toSorted())
  const own = paths.filter((path) => !path.includes('/node_modules/'))
  const wrong = [
    ...paths.filter((path) => !/^\/(airbyte$|airbyte\/|usr\/local\/bin\/)/.test(path)),
    ...own.filter((path) => /testing|\.test\.|emulator|bench|\.ts$|scripts|secrets/.test(path)),
    ...added.filter(([, { mode, link }]) => !link && (mode & 0o022) !== 0).map(([path]) => path),
  ]
  if (wrong.length > 0) throw new Error(wrong.join('\n'))
  for (const file of ['NOTICE', 'LICENSE', 'spec.json', 'sbom.cdx.json', 'dist/scan.wasm'])
    if (!image.has(`${HOME}/${file}`)) throw new Error(`there is no ${file}`)
  return bytes
}

/** The commands of the platform, in containers. */
async function contained(sandbox: Sandbox, tenant: Tenant, step: Steps['step']): Promise<void> {
  const { emulator, config, streams } = tenant
  const give = (name: string, content: unknown) =>
    writeFileSync(join(sandbox.source, name), JSON.stringify(content))
  give('config.json', config)
  give('catalog.json', catalogOf(streams))
  const files = '--config /source/config.json'
  const read = `read ${files} --catalog /source/catalog.json`
  const inside = (words: string) => runContained(sandbox, [...entry(sandbox), ...words.split(' ')])
  const platform = (words: string) =>
    runContained(sandbox, ['sh', '-c', `cd /source && eval "$AIRBYTE_ENTRYPOINT ${words}"`])

  await step('spec, as the platform asks for it', async () => {
    const [message] = answersOf(await platform('spec'))
    expectSame(message?.['type'], 'SPEC')
  })
  await step('check', async () => {
    const { connectionStatus } = answersOf(await inside(`check ${files}`)).at(-1) as Status
    expectSame(connectionStatus.status, 'SUCCEEDED')
  })
  await step('discover finds every stream', async () => {
    const { catalog } = answersOf(await inside(`discover ${files}`)).at(-1) as Catalog
    expectSame(catalog.streams.map(({ name }) => name).toSorted(), streams.toSorted())
  })
  const first = await step('read brings every record of every stream', async () => {
    const messages = answersOf(await inside(read))
    for (const stream of streams)
      expectSame(
        [stream, countRecords(messages, stream)],
        [stream, (await tenant.truth(stream)).length],
      )
    return messages
  })
  await step('read from the state brings what has changed', async () => {
    give('state.json', lastStates(first ?? []))
    emulator.randomChanges({ inserts: 5, updates: 5, deletes: 5, softDeletes: 0 })
    const messages = answersOf(await inside(`${read} --state /source/state.json`))
    const [all, changed] = [first ?? [], messages].map((some) => countRecords(some))
    if (!(Number(changed) > 0 && Number(changed) < Number(all) / 2))
      throw new Error(`${changed} records, ${all} in the first read`)
  })
  await step('tap-protime brings every stream and ends with a state', async () => {
    const messages = answersOf(await runContained(sandbox, ['tap-protime', ...files.split(' ')]))
    const read = new Set(messages.flatMap(({ type, stream }) => (type === 'RECORD' ? stream : [])))
    expectSame([...read].toSorted(), streams.toSorted())
    expectSame(messages.at(-1)?.['type'], 'STATE')
  })
  await step('nothing can be written to', async () => {
    const { exitCode } = await runContained(sandbox, ['touch', '/tmp/file'])
    if (exitCode === 0) throw new Error('a file was written')
  })
  await step('read changes no file, where it might', async () => {
    const before = [...filesOf(sandbox.root)]
    answersOf(await runContained(sandbox, ['source-protime', ...read.split(' ')], WRITABLE))
    expectSame([...filesOf(sandbox.root)], before)
  })
  await step('SIGTERM ends the first process in mid-read, with 143', async () => {
    emulator.fault('/people', 'slow', { ms: 2 * LONG_MS })
    let since = 0
    const onOutput = (terminate: () => void) => {
      if (since > 0) return
      since = performance.now()
      terminate()
    }
    const { exitCode } = await runContained(sandbox, [...entry(sandbox), ...read.split(' ')], {
      onOutput,
    })
    expectSame(exitCode, 143)
    const took = performance.now() - since
    if (took > SOON_MS) throw new Error(`it took ${Math.round(took)} ms`)
  })
}

const WRITABLE = { isWritable: true }
const LONG_MS = 30_000

type Status = { connectionStatus: { status: string } }
type Catalog = { catalog: { streams: { name: string }[] } }

function entry({ config }: Sandbox): readonly string[] {
  return config.Entrypoint
}

await main()
