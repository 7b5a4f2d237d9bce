import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type Ended, outputOf } from '../command.ts'
import type { Tools } from '../engine.ts'

type Environment = Readonly<Record<string, string>>

/** A Meltano project in a folder of its own. */
export interface Project {
  readonly folder: string
  /** Runs `meltano` with these words and, on top of the project's, these variables. */
  meltano(words: readonly string[], environment?: Environment): Promise<Ended>
  /** The same; throws what was said when it fails. */
  must(words: readonly string[], environment?: Environment): Promise<string>
}

export interface ProjectSettings {
  /** The folder to make the project in. */
  readonly folder: string
  /** The folder of the repository. */
  readonly projectFolder: string
  /** What Meltano installs the tap from. */
  readonly wheel: string
  /** A Python interpreter with Meltano beside it, and what runs programs by it. */
  readonly interpreter: string
  readonly execute: Tools['execute']
  /** Settings of the plugins, as Meltano reads them from variables. */
  readonly environment: Environment
}

/** Makes a project of the repository's own meltano.yml, in a folder like a clone; only the tap and the target are those that pip installs. */
export function createProject(settings: ProjectSettings): Project {
  const { folder, projectFolder, wheel, interpreter, execute, environment } = settings
  let file = readFileSync(join(projectFolder, 'meltano.yml'), 'utf8')
  for (const program of ['tap-protime', 'target-protime']) {
    const relative = `executable: ./bin/${program}\n`
    if (!file.includes(relative)) throw new Error(`meltano.yml lacks the line ${relative}`)
    const installed = `pip_url: ${pathToFileURL(wheel)}\n    executable: ${program}\n`
    file = file.replace(relative, installed)
  }
  writeFileSync(join(folder, 'meltano.yml'), file)
  // PostgreSQL's folder may be a neighbour, and its user has to pass.
  chmodSync(folder, 0o755)
  // Not by its first line: that names the folder in which the environment was made.
  const script = join(dirname(interpreter), 'meltano')
  const own = {
    ...environment,
    MELTANO_SEND_ANONYMOUS_USAGE_STATS: 'false',
    MELTANO_CLI_LOG_FORMAT: 'plain',
    NO_COLOR: '1',
    COLUMNS: '200',
  }
  const meltano: Project['meltano'] = (words, more = {}) =>
    execute({ args: [script, ...words], folder, environment: { ...own, ...more } })
  return {
    folder,
    meltano,
    async must(words, more) {
      return outputOf(`meltano ${words.join(' ')}`, await meltano(words, more))
    },
  }
}

/** A configuration of the tap as variables: nested settings joined, what is not text as JSON. */
export function tapVariables(
  config: Readonly<Record<string, unknown>>,
  prefix = 'TAP_PROTIME',
): Record<string, string> {
  const entries = Object.entries(config).flatMap(([name, value]) => {
    const variable = `${prefix}_${name.toUpperCase()}`
    if (typeof value === 'string') return [[variable, value] as const]
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    return isObject
      ? Object.entries(tapVariables(value as Record<string, unknown>, variable))
      : [[variable, JSON.stringify(value)] as const]
  })
  return Object.fromEntries(entries)
}
