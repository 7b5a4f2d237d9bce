import { existsSync, mkdirSync, statSync } from 'node:fs'
import { cp, mkdir, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { packageFolder, packageVersion } from '../ground/project-files.ts'
import type { DbtTarget } from '../warehouse/landing.ts'
import { engineOf } from '../warehouse/landings.ts'
import { type BareTools, EXIT, type ExitCode, UsageError } from './command.ts'

export interface DbtInitOptions {
  /** The file or the address of `protime sync`. */
  readonly warehouse: string
  /** The folder of the dbt project; it is created if it is missing. */
  readonly project: string
}

/** The package of models. The project gets a copy of it, because the program may be in a cache. */
const PACKAGE = 'packages/protime'
const LINK = 'dbt_packages/protime'
/** The folder of the models' own file, which dbt creates: only its owner can enter it. */
const MODELS = 'analytics'

/** Writes a dbt project that reads a warehouse of `protime sync`, with the package of models of this version. */
export async function dbtInit(
  { log }: Pick<BareTools, 'log'>,
  { warehouse, project }: DbtInitOptions,
): Promise<ExitCode> {
  const target = engineOf(warehouse).dbtTarget(warehouse, project)
  if (target.file !== undefined) assertFile(target.file)
  const files = projectFiles(target)
  const known = [...Object.keys(files), PACKAGE, LINK, MODELS].find((name) =>
    existsSync(join(project, name)),
  )
  if (known !== undefined)
    throw new UsageError(`${join(project, known)} exists already, so nothing was written`)
  makeFolder(join(project, dirname(LINK)))
  if (target.file !== undefined) await mkdir(join(project, MODELS), { mode: 0o700 })
  await cp(join(packageFolder(), 'dbt'), join(project, PACKAGE), { recursive: true })
  // The copy that dbt deps would make, so that a build need not call it.
  await symlink(join('..', PACKAGE), join(project, LINK), 'junction')
  for (const [name, text] of Object.entries(files)) await writeFile(join(project, name), text)
  log.info(`The dbt project is written${project === '.' ? '' : ` to ${project}`}. Next: dbt build`)
  return EXIT.done
}

/** Creates a folder, and those above it that are missing. Where nobody can, as in /proc, Node would try it for ever. */
function makeFolder(path: string): void {
  if (existsSync(path)) return
  makeFolder(dirname(path))
  try {
    mkdirSync(path)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new UsageError(
      `the folder ${path} cannot be made (${code}); name another one with --project`,
    )
  }
}

function assertFile(path: string): void {
  if (!existsSync(path))
    throw new UsageError(
      `there is no ${path}: create it with protime sync, or name another file with --warehouse`,
    )
  if (statSync(path).isDirectory())
    throw new UsageError(`${path} is a folder: name the file of protime sync with --warehouse`)
}

/** The files of the project by their names. */
function projectFiles({ database, schema, output }: DbtTarget): Readonly<Record<string, string>> {
  return {
    'dbt_project.yml': `name: protime_warehouse
version: "1.0.0"
profile: protime
flags:
  send_anonymous_usage_stats: false
vars:
  # The tables of protime sync, in the database that profiles.yml names.
  protime_database: ${JSON.stringify(database)}
  protime_schema: ${JSON.stringify(schema)}
  # Where the people work: it decides which day is today.
  protime_time_zone: Europe/Brussels
  # Which counters are overtime, by their names in the default language. Without them overtime is null, and a test warns:
  # select distinct counter_name from protime__counters
  # protime_overtime_counters: [Overtime]
`,
    'packages.yml': `# The package that protime ${packageVersion()} brought. A newer one: remove the folder and name a release in place of it:
#   - git: https://github.com/source-protime/source-protime.git
#     subdirectory: dbt
#     revision: v${packageVersion()}
packages:
  - local: ${PACKAGE}
`,
    'profiles.yml': `protime:
  target: warehouse
  outputs:
    warehouse:
${output.map((line) => `      ${line}\n`).join('')}`,
  }
}
