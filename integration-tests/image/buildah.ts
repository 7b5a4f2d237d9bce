import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { execute } from '../engines/meltano/command.ts'

/** buildah with a storage of its own, so that nothing it removes belongs to anybody else. */
export interface Buildah {
  /** Runs a command of buildah and answers with its stdout; throws what it said when it fails. */
  run(...args: readonly string[]): Promise<string>
  /** Removes every container and image of this storage. */
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
    const ended = await execute({ program: 'buildah', args, folder, environment })
    if (ended.exitCode === 0) return ended.stdout
    const said = `${ended.stdout}\n${ended.stderr}`.slice(-4000)
    throw new Error(`buildah ${args.join(' ')} ended with ${ended.exitCode}:\n${said}`)
  }
  return {
    run,
    async clear() {
      await run('rm', '--all')
      await run('rmi', '--all', '--force')
    },
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
