import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { packageFolder } from '../../scripts/demo/paths.ts'
import { pythonWith } from '../engines/environment.ts'
import { output } from '../engines/meltano/command.ts'

/** What became of one run of a tenant. */
export interface Run {
  readonly tenant: string
  readonly status: string
  /** Seconds since 1970. */
  readonly startedAt: number
  readonly endedAt: number
  readonly retries: number
  readonly metadata: Readonly<Record<string, number>>
}

/** A Dagster instance of its own, with the project of `deploy/dagster`. */
export interface Dagster {
  /** Starts the daemon, which runs sensor, schedule and queue; the answer stops it. */
  start(settings: Readonly<Record<string, string>>): () => Promise<void>
  /** Runs a command of `dagster` on the project. */
  command(...words: readonly string[]): Promise<string>
  /** Waits until there are as many runs (with a tag), and none that has not ended. */
  ended(count: number, tag?: string): Promise<readonly Run[]>
  /** Waits until there are as many runs with a tag, ended or not. */
  requested(count: number, tag: string): Promise<void>
  /** All that the programs of the runs have written to stderr. */
  log(): string
}

const project = join(packageFolder, 'deploy', 'dagster')

/** Installs Dagster at the first use, and makes an instance in a folder. */
export function createDagster(folder: string, settings: Readonly<Record<string, string>>): Dagster {
  const requirements = readFileSync(join(project, 'requirements.txt'), 'utf8').trim().split('\n')
  const python = pythonWith('dagster', requirements)
  const program = (name: string) => join(dirname(python), name)
  const home = join(folder, 'dagster')
  mkdirSync(join(home, 'storage'), { recursive: true })
  copyFileSync(join(project, 'dagster.yaml'), join(home, 'dagster.yaml'))
  const environment = {
    ...settings,
    DAGSTER_HOME: home,
    DO_NOT_TRACK: '1',
    PYTHONDONTWRITEBYTECODE: '1',
  }
  const file = join(project, 'protime_tenants.py')
  const runs = async (...args: readonly string[]) => {
    const watch = join(packageFolder, 'integration-tests', 'deploy', 'runs.py')
    const text = await output({ program: python, args: [watch, ...args], folder, environment })
    return JSON.parse(text.trim().split('\n').at(-1) ?? '') as Run[]
  }
  return {
    start(more) {
      const daemon = spawn(python, [program('dagster-daemon'), 'run', '-f', file], {
        cwd: folder,
        env: { ...process.env, ...environment, ...more },
        // A group of its own: the daemon leaves a code server behind for a while.
        detached: true,
        stdio: ['ignore', 'ignore', 'inherit'],
      })
      const ended = once(daemon, 'close')
      const kill = () => killGroup(daemon.pid ?? 0)
      process.once('exit', kill)
      return async () => {
        daemon.kill('SIGTERM')
        await ended
        kill()
        process.off('exit', kill)
      }
    },
    command: (...words) =>
      output({
        program: python,
        args: [program('dagster'), ...words, '-f', file],
        folder,
        environment,
      }),
    ended: (count, tag = '') => runs(String(count), tag),
    requested: async (count, tag) => void (await runs(String(count), tag, 'requested')),
    log: () => logsBelow(join(home, 'storage')),
  }
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

function logsBelow(folder: string): string {
  const logs = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  return logs
    .filter((name) => name.endsWith('.err'))
    .map((name) => readFileSync(join(folder, name), 'utf8'))
    .join('')
}
