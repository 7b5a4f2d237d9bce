import { execFileSync, spawn, spawnSync } from 'node:child_process'
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { type Ended, execute, expectSame } from '../engines/command.ts'

/** What a container takes over from its image. */
export interface ImageConfig {
  /** User and group as numbers. */
  readonly User: string
  readonly Env: readonly string[]
  readonly WorkingDir: string
  readonly Entrypoint: readonly string[]
  readonly Labels: Readonly<Record<string, string>>
}

export interface Sandbox {
  /** The mounted files of the image. */
  readonly root: string
  readonly config: ImageConfig
  /** A folder that is seen as /source, for reading. */
  readonly source: string
  /** Where the files of the runs are kept. */
  readonly folder: string
}

export interface RunOptions {
  /** Makes the root writable, as far as its modes allow. */
  readonly isWritable?: boolean
  /** Folders of the machine that can be written to, by where they are seen. */
  readonly folders?: Readonly<Record<string, string>>
  /** Called at each piece of stdout, with what sends SIGTERM to the first process. */
  readonly onOutput?: (terminate: () => void) => void
}

/** Longer than any of these programs runs; what needs more hangs. */
const LIMIT_MS = 60_000

/**
 * Runs a program as the first process of a container with crun: the user of the image, a read-only
 * root, nothing else to write to, no capabilities, the network of the machine.
 */
export function runContained(
  { root, config, source, folder }: Sandbox,
  args: readonly string[],
  { isWritable = false, folders = {}, onOutput }: RunOptions = {},
): Promise<Ended> {
  const bundle = mkdtempSync(join(folder, 'bundle-'))
  const [uid, gid] = config.User.split(':').map(Number)
  const none = { bounding: [], effective: [], inheritable: [], permitted: [], ambient: [] }
  const mounts = [
    { destination: '/proc', type: 'proc', source: 'proc' },
    { destination: '/dev', type: 'tmpfs', source: 'tmpfs', options: ['nosuid', 'mode=755'] },
    { destination: '/source', type: 'bind', source, options: ['bind', 'ro'] },
    ...Object.entries(folders).map(([destination, source]) => ({
      ...{ destination, type: 'bind', source, options: ['bind', 'rw'] },
    })),
  ]
  const specification = {
    ociVersion: '1.0.2',
    process: {
      user: { uid, gid },
      args,
      env: config.Env,
      cwd: config.WorkingDir,
      noNewPrivileges: true,
      capabilities: none,
    },
    root: { path: root, readonly: !isWritable },
    mounts,
    linux: { namespaces: ['pid', 'mount', 'ipc', 'uts'].map((type) => ({ type })) },
  }
  writeFileSync(join(bundle, 'config.json'), JSON.stringify(specification))
  const pidFile = join(bundle, 'pid')
  return new Promise((resolve, reject) => {
    const name = `source-protime-${process.pid}-${bundle.slice(-6)}`
    const command = `${CGROUPS} exec crun --cgroup-manager=disabled run --pid-file '${pidFile}' -b '${bundle}' '${name}'`
    const child = spawn('unshare', ['--mount', 'sh', '-c', command], {
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: LIMIT_MS,
    })
    const said = { stdout: [] as Buffer[], stderr: [] as Buffer[] }
    child.stderr.on('data', (chunk: Buffer) => said.stderr.push(chunk))
    child.stdout.on('data', (chunk: Buffer) => {
      said.stdout.push(chunk)
      onOutput?.(() => process.kill(Number(readFileSync(pidFile, 'utf8')), 'SIGTERM'))
    })
    child.once('error', reject)
    child.once('close', (exitCode) => {
      const text = (chunks: readonly Buffer[]) => Buffer.concat(chunks).toString('utf8')
      resolve({ exitCode, stdout: text(said.stdout), stderr: text(said.stderr) })
    })
  })
}

/** crun refuses machines that have both versions of cgroups: here it sees the second one alone. */
const CGROUPS = '[ -e /sys/fs/cgroup/cgroup.controllers ] || mount -t cgroup2 none /sys/fs/cgroup;'

/** As long as a build of all stages may take, which downloads packages twice. */
const BUILD_LIMIT_MS = 600_000

/** buildah with a storage of its own, so that nothing it removes belongs to anybody else. */
export interface Buildah {
  /** Runs a command of buildah and answers with its stdout; throws what it said when it fails. */
  run(...args: readonly string[]): Promise<string>
  /** Unmounts and removes every container of this storage, whose folder can be removed then. */
  clear(): Promise<void>
}

/** Keeps images below `folder`. */
export function openStorage(folder: string): Buildah {
  const settings = join(folder, 'storage.conf')
  const lines = [
    '[storage]',
    `driver = "${overlayWorks(folder) ? 'overlay' : 'vfs'}"`,
    `graphroot = "${folder}/storage"`,
    `runroot = "${folder}/run"`,
  ]
  writeFileSync(settings, `${lines.join('\n')}\n`)
  const environment = { CONTAINERS_STORAGE_CONF: settings, BUILDAH_ISOLATION: 'chroot' }
  const run = async (...args: readonly string[]) => {
    const command = { program: 'buildah', args, folder, environment, limitMs: BUILD_LIMIT_MS }
    const ended = await execute(command)
    if (ended.exitCode === 0) return ended.stdout
    const said = `${ended.stdout}\n${ended.stderr}`.slice(-4000)
    throw new Error(`buildah ${args.join(' ')} ended with ${ended.exitCode}:\n${said}`)
  }
  return {
    run,
    clear: async () => void (await run('rm', '--all')),
  }
}

/**
 * Why images cannot be built on this machine, or undefined when they can. buildah and crun are
 * installed where they are missing and apt-get may do it.
 */
export function whyNoImages(): string | undefined {
  if (process.getuid?.() !== 0) return 'only root may build images here'
  if (spawnSync('unshare', ['--mount', 'true']).status !== 0) return 'nobody may mount here'
  const missing = ['buildah', 'crun'].filter((name) => !has(name))
  if (missing.length === 0) return undefined
  if (!has('apt-get')) return `there is no ${missing.join(' and no ')}, and no apt-get`
  aptGet('update', '-qq')
  aptGet('install', '-y', '-qq', '--no-install-recommends', ...missing)
  return undefined
}

function has(program: string): boolean {
  return spawnSync('sh', ['-c', `command -v ${program}`]).status === 0
}

function aptGet(...args: readonly string[]): void {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  execFileSync('apt-get', args, { stdio: ['ignore', 'ignore', 'inherit'], env })
}

/** Where the kernel mounts no overlay, each step of a build copies the whole image. */
function overlayWorks(folder: string): boolean {
  const place = mkdtempSync(join(folder, 'overlay-'))
  for (const name of ['lower', 'upper', 'work', 'merged']) mkdirSync(join(place, name))
  const options = `lowerdir=${place}/lower,upperdir=${place}/upper,workdir=${place}/work`
  const mount = ['mount', '-t', 'overlay', 'overlay', '-o', options, `${place}/merged`]
  const { status } = spawnSync('unshare', ['--mount', ...mount])
  rmSync(place, { recursive: true, force: true })
  return status === 0
}

/** Where the connector is in its image. */
export const HOME = '/airbyte/integration_code'
/** What installs software, and is of no use where nothing can be written. */
const INSTALLERS = /\/(npm|npx|corepack|yarn|yarnpkg|apt|apt-get|dpkg)$/
const LARGEST_BYTES = 8_000_000

/** What `lstat` tells of one file of an image. */
interface ImageFile {
  readonly bytes: number
  readonly mode: number
  /** When the content or a fact of the file was last changed. */
  readonly changed: number
  /** Where a link leads to. */
  readonly link?: string
}

type Files = ReadonlyMap<string, ImageFile>

/** Every file and folder below `root`, by its path in the image. */
export function filesOf(root: string): Files {
  const files = new Map<string, ImageFile>()
  const walk = (path: string) => {
    for (const name of readdirSync(join(root, path))) {
      const inner = `${path}/${name}`
      const facts = lstatSync(join(root, inner))
      files.set(inner, {
        bytes: facts.isDirectory() ? 0 : facts.size,
        mode: facts.mode & 0o7777,
        changed: facts.ctimeMs,
        ...(facts.isSymbolicLink() && { link: readlinkSync(join(root, inner)) }),
      })
      if (facts.isDirectory()) walk(inner)
    }
  }
  walk('')
  return files
}

/** How many bytes the image has above its base; throws what is wrong with its files, those of its base included. */
export function judgeFiles(image: Files, base: Files): number {
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
    ...[...image.keys()].filter((path) => INSTALLERS.test(path)),
    ...[...image].filter(([, { mode }]) => (mode & 0o6000) !== 0).map(([path]) => path),
    ...paths.filter((path) => !/^\/(airbyte$|airbyte\/|usr\/local\/bin\/)/.test(path)),
    ...own.filter((path) => /testing|\.test\.|emulator|bench|\.ts$|scripts|secrets/.test(path)),
    ...added.filter(([, { mode, link }]) => !link && (mode & 0o022) !== 0).map(([path]) => path),
  ]
  if (wrong.length > 0) throw new Error(wrong.join('\n'))
  const wasm = ['dist/scan.wasm', 'dist/rows.wasm']
  for (const file of ['NOTICE', 'LICENSE', 'spec.json', 'sbom.cdx.json', ...wasm])
    if (!image.has(`${HOME}/${file}`)) throw new Error(`there is no ${file}`)
  return bytes
}
