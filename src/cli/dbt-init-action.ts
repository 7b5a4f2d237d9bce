import { existsSync } from 'node:fs'
import { mkdir, rm, symlink, writeFile } from 'node:fs/promises'
import { join, relative, resolve } from 'node:path'
import { packageFile, packageVersion } from '../ground/project-files.ts'
import { type BareTools, EXIT, type ExitCode, UsageError } from './command.ts'

export interface DbtInitOptions {
  /** The file of `protime sync`. */
  readonly warehouse: string
  /** The folder of the dbt project, which is made where it is missing. */
  readonly project: string
}

/** Writes a dbt project that reads a warehouse of `protime sync`, with the package of models of this version. */
export async function dbtInit(
  { log }: Pick<BareTools, 'log'>,
  { warehouse, project }: DbtInitOptions,
): Promise<ExitCode> {
  if (!existsSync(warehouse))
    throw new UsageError(
      `there is no ${warehouse}: protime sync makes it, --warehouse names another`,
    )
  const files = projectFiles(relative(resolve(project), resolve(warehouse)))
  const known = Object.keys(files).find((name) => existsSync(join(project, name)))
  if (known !== undefined)
    throw new UsageError(`${join(project, known)} exists already, and nothing was written`)
  await mkdir(join(project, 'dbt_packages'), { recursive: true })
  for (const [name, text] of Object.entries(files)) await writeFile(join(project, name), text)
  // As dbt deps links it.
  const link = join(project, 'dbt_packages', 'protime')
  await rm(link, { force: true })
  await symlink(packageFile('dbt'), link, 'junction')
  log.info(`The dbt project is written${project === '.' ? '' : ` to ${project}`}. Next: dbt build`)
  return EXIT.done
}

/** The files of the project by their names; `warehouse` is the path from its folder. JSON is YAML, too. */
function projectFiles(warehouse: string): Readonly<Record<string, string>> {
  return {
    'dbt_project.yml': `name: protime_warehouse
version: "1.0.0"
profile: protime
flags:
  send_anonymous_usage_stats: false
vars:
  # The tables of protime sync, in the file that profiles.yml attaches.
  protime_database: raw
  protime_schema: main
`,
    'packages.yml': `# The package that protime ${packageVersion()} brings. In a repository that others use, name its release in place of the folder:
#   - git: https://github.com/source-protime/source-protime.git
#     subdirectory: dbt
#     revision: v${packageVersion()}
packages:
  - local: ${JSON.stringify(packageFile('dbt'))}
`,
    'profiles.yml': `protime:
  target: warehouse
  outputs:
    warehouse:
      type: duckdb
      path: analytics.duckdb
      threads: 4
      attach:
        # A sync waits for a build that reads the file, or the other way round: protime sync --wait 10m.
        - {path: ${JSON.stringify(warehouse)}, alias: raw, read_only: true}
`,
  }
}
