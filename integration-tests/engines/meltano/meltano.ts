import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Emulator, startEmulator } from '../../../emulator/emulator.ts'
import { guideBlock } from '../../../scripts/guide-blocks.ts'
import type { Engine, Tools } from '../engine.ts'
import { pythonWith } from '../python.ts'
import { startTenant, type Tenant } from '../tenant.ts'
import { type PostgreSql, startPostgreSql } from './postgresql.ts'
import { createProject, type Project, tapVariables } from './project.ts'
import {
  type Comparison,
  duckdbTarget,
  jsonlTarget,
  postgresTarget,
  storedDifferences,
} from './targets.ts'

interface WritingParts {
  readonly project: Project
  readonly postgres: PostgreSql
  /** The folder of the repository. */
  readonly projectFolder: string
  readonly step: Tools['step']
}

type Row = Readonly<Record<string, unknown>>
type Variables = Readonly<Record<string, string>>

/** Real Meltano writes into the service: what the tap reads, a table of a database, and a file. */
async function written({ project, postgres, projectFolder, step }: WritingParts) {
  const wanted = await startWritable()
  const service = await startWritable()
  const target = tapVariables(service.config(), 'TARGET_PROTIME')
  const run = (tap: string, variables: Variables = {}) =>
    project.must(['run', tap, 'target-protime'], { ...target, ...variables })
  /** Without effect: the deletes of rows that are gone already are sent nevertheless, because no list says it for sure. */
  const changesNothing = async (tap: string, variables?: Variables, deletes = 0) => {
    const before = service.requests.length
    await run(tap, variables)
    const sent = service.requests.slice(before).filter(changes)
    expectSame(
      sent.map(({ method }) => method),
      Array(deletes).fill('DELETE'),
    )
  }
  try {
    const read = {
      ...tapVariables(wanted.config()),
      TAP_PROTIME__SELECT: '["external_references.*"]',
    }
    for (let id = 1; id <= 5; id++) wanted.setReference('people', 'payroll', `P/${id} é`, id)
    await step(
      'target-protime makes a tenant equal to the one that tap-protime reads',
      async () => {
        await run('tap-protime', read)
        expectSame(references(service, 'payroll'), references(wanted, 'payroll'))
      },
    )
    await step('target-protime changes nothing when it is sent the same again', () =>
      changesNothing('tap-protime', read),
    )
    await step('target-protime writes a table of PostgreSQL', async () => {
      addExtractor(project, guideBlock('yaml meltano', join(projectFolder, 'docs/writing.md')))
      await postgres.query(guideBlock('sql meltano', join(projectFolder, 'docs/writing.md')))
      const rows = [1, 2, 3].map((id) => `('people', 'hr', 'E-${id}', ${id})`)
      await postgres.query(`insert into public.external_references values ${rows.join(', ')}`)
      await project.must(['install', 'extractor', 'tap-postgres'])
      await run('tap-postgres', ofPostgres(postgres))
      expectSame(references(service, 'hr'), [
        ['E-1', '1'],
        ['E-2', '2'],
        ['E-3', '3'],
      ])
    })
    await step('target-protime deletes what the table marks, and moves what it moves', async () => {
      await postgres.query(
        "update public.external_references set _deleted = true where value = 'E-1'; update public.external_references set internal_reference = 4 where value = 'E-2'",
      )
      await run('tap-postgres', ofPostgres(postgres))
      expectSame(references(service, 'hr'), [
        ['E-2', '4'],
        ['E-3', '3'],
      ])
      await changesNothing('tap-postgres', ofPostgres(postgres), 1)
    })
    await step('target-protime writes the lines of a file', async () => {
      const [category] = service.all('job-categories')
      writeTap(project, { id: String(category?.['id']), external_code: 'ERP-1' })
      addExtractor(
        project,
        '  - {name: tap-lines, namespace: tap_lines, executable: ./tap-lines}\n',
      )
      await run('tap-lines')
      const [after] = service.all('job-categories')
      expectSame([after?.['externalCode'], defaultName(after)], ['ERP-1', defaultName(category)])
    })
    await step('target-protime fails the run when a record is rejected, and says why', async () => {
      writeTap(project, { id: '999999', external_code: 'X' })
      const { exitCode, stdout, stderr } = await project.meltano(
        ['run', 'tap-lines', 'target-protime'],
        target,
      )
      if (exitCode === 0 || !`${stdout}${stderr}`.includes('record 1 was rejected'))
        throw new Error(`it ended with ${exitCode}:\n${stdout}\n${stderr}`.slice(-4000))
    })
  } finally {
    await wanted.close()
    await service.close()
  }
}

function startWritable(): Promise<Emulator> {
  const clients = [{ id: 'writer', secret: 'b-secret', scopes: 'all' }] as const
  return startEmulator({ people: 8, months: 1, clients })
}

function references(emulator: Emulator, name: string): string[][] {
  return emulator
    .references('people')
    .filter(({ referenceName }) => referenceName === name)
    .map(({ externalReference, internalReference }) => [externalReference, internalReference])
    .toSorted()
}

function defaultName(category: Row | undefined): unknown {
  return (category?.['name'] as Row | undefined)?.['default']
}

function changes({ method, path }: Emulator['requests'][number]): boolean {
  return method !== 'GET' && !path.startsWith('/connect/')
}

function ofPostgres({ port, user, password }: PostgreSql): Variables {
  return {
    TAP_POSTGRES_PORT: String(port),
    TAP_POSTGRES_USER: user,
    TAP_POSTGRES_PASSWORD: password,
    TAP_POSTGRES_DATABASE: 'postgres',
  }
}

/** Makes a tap of the project that prints these texts as a job category. */
function writeTap({ folder }: Project, record: Readonly<Record<string, string>>): void {
  const stream = 'job_categories'
  const properties = Object.fromEntries(
    Object.keys(record).map((name) => [name, { type: 'string' }]),
  )
  const schema = { type: 'object', properties }
  const messages = [
    { type: 'SCHEMA', stream, schema, key_properties: ['id'] },
    { type: 'RECORD', stream, record },
    { type: 'STATE', value: { lines: 1 } },
  ].map((message) => `${JSON.stringify(message)}\n`)
  const path = join(folder, 'tap-lines')
  writeFileSync(path, `#!/bin/sh\ncat <<'END'\n${messages.join('')}END\n`)
  chmodSync(path, 0o755)
}

/** Puts an extractor into the project's meltano.yml, where the guide says. */
function addExtractor({ folder }: Project, definition: string): void {
  const path = join(folder, 'meltano.yml')
  const file = readFileSync(path, 'utf8')
  writeFileSync(
    path,
    file.replace(/^ {2}extractors:\n/m, (line) => `${line}${definition}`),
  )
}

function expectSame(actual: unknown, expected: unknown): void {
  const [given, wanted] = [JSON.stringify(actual), JSON.stringify(expected)]
  if (given !== wanted) throw new Error(`${given} instead of ${wanted}`)
}

const REQUIREMENTS = ['meltano==4.4.1']
const CHANGES = { inserts: 60, updates: 60, deletes: 40, softDeletes: 5 }
const WRONG_SECRET = 'a-wrong-secret-5b1f'

/** Real Meltano with the repository's own meltano.yml, into three real targets and back into the service. */
export const meltano: Engine = {
  name: 'meltano',
  requirements: REQUIREMENTS,
  imports: ['meltano.cli'],
  async run({ folder, projectFolder, wheel, execute, step }) {
    const postgres = await step('PostgreSQL started', () => startPostgreSql(folder))
    if (postgres === undefined) return
    const targets = [jsonlTarget(), duckdbTarget(), postgresTarget(postgres)]
    const project = createProject({
      folder: madeIn(folder),
      projectFolder,
      wheel,
      interpreter: pythonWith('meltano', REQUIREMENTS),
      execute,
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
