import { execFileSync, spawnSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { dockerRuns, installText } from '../../scripts/guide-blocks.ts'
import { packageVersion } from '../../src/ground/project-files.ts'
import { INVENTORY } from '../../src/streams/streams.ts'
import { answersOf, catalogOf, countRecords, expectSame, lastStates } from '../engines/command.ts'
import { startTenant, type Tenant } from '../engines/tenant.ts'
import { createSteps, type Steps } from '../steps.ts'
import {
  type Buildah,
  filesOf,
  judgeFiles,
  openStorage,
  runContained,
  type Sandbox,
  whyNoImages,
} from './container.ts'
import { BASE, build, configOf, DESTINATION, IMAGE, mounted, trySyncImage } from './image.ts'

/** The commands of the platform, in containers. */
export async function tryPlatform(
  sandbox: Sandbox,
  tenant: Tenant,
  { step, note }: Pick<Steps, 'step' | 'note'>,
): Promise<void> {
  const { emulator, config, streams } = tenant
  const offered = [...streams, INVENTORY.stream]
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
    expectSame(catalog.streams.map(({ name }) => name).toSorted(), offered.toSorted())
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
    expectSame([...read].toSorted(), offered.toSorted())
    expectSame(messages.at(-1)?.['type'], 'STATE')
  })
  await step('protime lists the work locations', async () => {
    const words = ['protime', 'work-locations', 'list', ...files.split(' ')]
    const answers = answersOf(await runContained(sandbox, words))
    expectSame(answers.length, (await tenant.truth('work_locations')).length)
  })
  for (const { entrypoint, args, output } of dockerRuns(installText('sh', 'image'))) {
    await step(`docs/install.md: ${entrypoint ?? 'source-protime'} ${args[0]}`, async () => {
      const program = entrypoint === undefined ? sandbox.config.Entrypoint : [entrypoint]
      const { exitCode, stdout, stderr } = await runContained(sandbox, [...program, ...args])
      if (exitCode !== 0) throw new Error(`ended with ${exitCode}: ${stderr}`)
      if (output !== undefined) writeFileSync(join(sandbox.source, output), stdout)
    })
  }
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
    emulator.fault('/people', 'slow', { ms: 5 * KILL_MS })
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
    const took = Math.round(performance.now() - since)
    if (took > KILL_MS) throw new Error(`it took ${took} ms`)
    note(`after ${took} ms`)
  })
}

const WRITABLE = { isWritable: true }
/** When Docker sends SIGKILL after SIGTERM. */
const KILL_MS = 10_000

type Status = { connectionStatus: { status: string } }
type Catalog = { catalog: { streams: { name: string }[] } }

function entry({ config }: Sandbox): readonly string[] {
  return config.Entrypoint
}

/** What the Dockerfile, a platform and the tries call. */
const TOOLS =
  'sh env cat cp mkdir rm ln chmod ls id test touch mv sleep find wc dirname basename readlink sed uname'

/**
 * Writes the context of an image that stands in for the official one of Node, from this machine's own
 * files: its node and npm, a shell, coreutils, and the libraries they need.
 */
export function writeStandIn(context: string): void {
  const root = join(context, 'root')
  const put = (from: string, to: string) => {
    if (existsSync(join(root, to))) return
    mkdirSync(dirname(join(root, to)), { recursive: true })
    cpSync(realpathSync(from), join(root, to))
  }
  for (const tool of ['node', ...TOOLS.split(' ')]) {
    const program = tool === 'node' ? process.execPath : whereIs(tool)
    for (const library of librariesOf(program)) put(library, library)
    put(program, `/usr/bin/${tool}`)
  }
  if (!existsSync(join(root, 'bin'))) symlinkSync('usr/bin', join(root, 'bin'))
  const npm = dirname(dirname(realpathSync(whereIs('npm'))))
  const modules = join(root, 'usr/local/lib/node_modules')
  cpSync(npm, join(modules, 'npm'), { recursive: true, dereference: true })
  mkdirSync(join(root, 'usr/local/bin'), { recursive: true })
  symlinkSync('../lib/node_modules/npm/bin/npm-cli.js', join(root, 'usr/local/bin/npm'))
  // As in the official image: what takes another user's rights, and what installs.
  put(whereIs('test'), '/usr/bin/su')
  chmodSync(join(root, 'usr/bin/su'), 0o4755)
  put(whereIs('test'), '/usr/bin/apt-get')
  mkdirSync(join(root, 'opt/yarn-v1/bin'), { recursive: true })
  put(whereIs('test'), '/opt/yarn-v1/bin/yarn')
  for (const folder of ['etc', 'tmp', 'root', 'proc', 'dev']) mkdirSync(join(root, folder))
  chmodSync(join(root, 'tmp'), 0o1777)
  const users = 'root:x:0:0::/root:/bin/sh\nnode:x:1000:1000::/tmp:/bin/sh\n'
  writeFileSync(join(root, 'etc/passwd'), users)
  writeFileSync(join(root, 'etc/group'), 'root:x:0:\nnode:x:1000:\n')
  const path = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'
  writeFileSync(
    join(context, 'Dockerfile'),
    `FROM scratch\nCOPY root/ /\nENV PATH=${path}\nCMD ["node"]\n`,
  )
}

/** A program's own file; the shell answers with a bare name for what is built into it. */
function whereIs(tool: string): string {
  const found = execFileSync('sh', ['-c', `command -v ${tool}`], { encoding: 'utf8' }).trim()
  return found.startsWith('/') ? found : `/usr/bin/${tool}`
}

function librariesOf(program: string): string[] {
  const { stdout } = spawnSync('ldd', [realpathSync(program)], { encoding: 'utf8' })
  return [...stdout.matchAll(/(\/[^ ]+) \(0x/g)].flatMap(([, path]) => path ?? [])
}

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
    await trySyncImage({ buildah, tenant, folder }, steps)
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
  await step('no image of another version', async () => {
    const said = await build(buildah, { version: '9.9.9' }).catch(String)
    if (!said.includes(`--build-arg VERSION=${packageVersion()}`)) throw new Error(said)
  })
  const config = await step('names, labels, user and entry point', () => configOf(buildah))
  if (config === undefined) return
  await step('the same programs as a destination', async () => {
    await build(buildah, { target: ['--target', 'destination', '--tag', DESTINATION] })
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
