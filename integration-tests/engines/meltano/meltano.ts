import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Engine, Tools } from '../engine.ts'
import { pythonWith } from '../environment.ts'
import { startTenant, type Tenant } from '../tenant.ts'
import { duckdbTarget } from './duckdb-target.ts'
import { jsonlTarget } from './jsonl-target.ts'
import { postgresTarget } from './postgres-target.ts'
import { startPostgreSql } from './postgresql.ts'
import { createProject, type Project, tapVariables } from './project.ts'
import { type Comparison, storedDifferences } from './stored-differences.ts'
import { written } from './written.ts'

const REQUIREMENTS = ['meltano==4.4.1']
const CHANGES = { inserts: 60, updates: 60, deletes: 40, softDeletes: 5 }
const WRONG_SECRET = 'a-wrong-secret-5b1f'

/** Real Meltano with the repository's own meltano.yml, into three real targets and back into the service. */
export const meltano: Engine = {
  name: 'meltano',
  requirements: REQUIREMENTS,
  async run({ folder, projectFolder, wheel, step }) {
    const postgres = await step('PostgreSQL started', () => startPostgreSql(folder))
    if (postgres === undefined) return
    const program = join(projectFolder, 'integration-tests/engines/meltano/duckdb_rows.py')
    const targets = [jsonlTarget(), duckdbTarget(program), postgresTarget(postgres)]
    const project = createProject({
      folder: madeIn(folder),
      projectFolder,
      wheel,
      interpreter: pythonWith('meltano', REQUIREMENTS),
      environment: Object.assign({}, ...targets.map(({ environment }) => environment)),
    })
    try {
      if (
        (await step('installed the connector and the loaders', () => project.must(['install']))) ===
        undefined
      )
        return
      await inTenant((tenant) => tried(project, tenant, step))
      for (const target of targets) {
        await inTenant((tenant) => loaded({ target, project, tenant }, step))
      }
      await written({ project, postgres, projectFolder, step })
    } finally {
      await postgres.stop()
    }
  },
}

type Step = Tools['step']

function madeIn(folder: string): string {
  const path = join(folder, 'project')
  mkdirSync(path)
  return path
}

async function inTenant(use: (tenant: Tenant) => Promise<void>): Promise<void> {
  const tenant = await startTenant()
  try {
    await use(tenant)
  } finally {
    await tenant.emulator.close()
  }
}

/** The commands that load nothing. */
async function tried(project: Project, { config, emulator, streams }: Tenant, step: Step) {
  const variables = tapVariables(config)
  await step('config test takes a good configuration', async () => {
    await project.must(['config', 'test', 'tap-protime'], variables)
    const [first] = emulator.requests.filter(({ path }) => !path.startsWith('/connect/'))
    if (first === undefined || first.path.startsWith('/delta/'))
      throw new Error(`the first request was ${first?.path}`)
  })
  await step('config test says why a wrong secret is refused', async () => {
    const wrong = { ...variables, TAP_PROTIME_CLIENT_SECRET: WRONG_SECRET }
    const said = refuse(await project.meltano(['config', 'test', 'tap-protime'], wrong))
    if (!said.includes('client secret for this tenant')) throw new Error(`no reason in:\n${said}`)
  })
  await step('select lists every stream, without a request', async () => {
    const before = emulator.requests.length
    const list = await project.must(['select', 'tap-protime', '--list', '--all'], variables)
    const missing = streams.filter(
      (stream) => !list.includes(`[automatic  ] ${stream}._generation`),
    )
    if (missing.length > 0) throw new Error(`not listed: ${missing.join(', ')}`)
    if (emulator.requests.length > before) throw new Error('the service was asked')
  })
}

/** A history of a tenant, and what stands in the target after each run. */
async function loaded(parts: Omit<Comparison, 'loads'>, step: Step): Promise<void> {
  const { target, project, tenant } = parts
  const { emulator, config } = tenant
  const variables = tapVariables(config)
  const words = ['run', 'tap-protime', target.plugin]
  let loads = 0
  const run = (more: readonly string[] = [], environment = {}) => {
    loads++
    return project.must([...words.slice(0, 1), ...more, ...words.slice(1)], {
      ...variables,
      ...environment,
    })
  }
  const holds = (name: string, act: () => Promise<unknown>, how: Partial<Comparison> = {}) =>
    step(`${target.plugin} holds the tenant ${name}`, async () => {
      await act()
      const faults = await storedDifferences({ ...parts, loads, ...how })
      if (faults.length > 0) throw new Error(faults.join('\n'))
    })
  await holds('after the first run', () => run())
  emulator.randomChanges(CHANGES)
  await holds('after inserts, updates and deletes', () => run())
  emulator.randomChanges({ ...CHANGES, seed: 2 })
  emulator.advance({ hours: 73 })
  await holds('after every link has expired', () => run())
  emulator.randomChanges({ ...CHANGES, seed: 3 })
  const deselected = { TAP_PROTIME__SELECT: '["*.*","!people.*"]' }
  await holds('without the stream that is deselected', () => run([], deselected), {
    except: ['people'],
  })
  await holds('once it is selected again', () => run())
  emulator.randomChanges({ ...CHANGES, seed: 4 })
  await holds('after --full-refresh', () => run(['--full-refresh']), {
    isWithoutGhosts: !target.activatesVersions,
  })
  emulator.randomChanges({ ...CHANGES, seed: 5 })
  await holds('after the run that follows it', () => run(), {
    isWithoutGhosts: !target.activatesVersions,
  })
  await step(`${target.plugin} is told of a wrong secret by the exit code`, async () => {
    const wrong = { ...variables, TAP_PROTIME_CLIENT_SECRET: WRONG_SECRET }
    refuse(await project.meltano(words, wrong))
  })
}

/** Ended with a failure that says why, and not with what. */
/** What a command said that must fail and must not tell the secret. */
function refuse({ exitCode, stdout, stderr }: Awaited<ReturnType<Project['meltano']>>): string {
  const said = `${stdout}\n${stderr}`
  if (exitCode === 0) throw new Error(`it succeeded:\n${said.slice(-2000)}`)
  if (said.includes(WRONG_SECRET)) throw new Error('the secret is in the log')
  return said
}
