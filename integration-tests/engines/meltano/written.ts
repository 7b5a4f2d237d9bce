import { chmodSync, copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Emulator, startEmulator } from '../../../emulator/emulator.ts'
import { guideBlock } from '../../testing/guide-block.ts'
import type { Tools } from '../engine.ts'
import type { PostgreSql } from './postgresql.ts'
import { type Project, tapVariables } from './project.ts'

export interface WritingParts {
  readonly project: Project
  readonly postgres: PostgreSql
  /** The folder of the repository. */
  readonly projectFolder: string
  readonly step: Tools['step']
}

type Row = Readonly<Record<string, unknown>>
type Variables = Readonly<Record<string, string>>

/** Real Meltano writes into the service: what the tap reads, a table of a database, and a file. */
export async function written({ project, postgres, projectFolder, step }: WritingParts) {
  const wanted = await startWritable()
  const service = await startWritable()
  const target = tapVariables(service.config(), 'TARGET_PROTIME')
  const run = (tap: string, variables: Variables = {}) =>
    project.must(['run', tap, 'target-protime'], { ...target, ...variables })
  const changesNothing = async (tap: string, variables?: Variables) => {
    const before = service.requests.length
    await run(tap, variables)
    expectSame(service.requests.slice(before).filter(changes).length, 0)
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
      await changesNothing('tap-postgres', ofPostgres(postgres))
    })
    await step('target-protime writes the lines of a file', async () => {
      const [category] = service.all('job-categories')
      writeFileSync(
        join(project.folder, 'job_categories.csv'),
        `id,external_code\n${category?.['id']},ERP-1\n`,
      )
      const tap = join(project.folder, 'tap-lines')
      copyFileSync(join(projectFolder, 'integration-tests/engines/meltano/tap_lines.py'), tap)
      chmodSync(tap, 0o755)
      addExtractor(
        project,
        '  - {name: tap-lines, namespace: tap_lines, executable: ./tap-lines, config: {file: job_categories.csv}, settings: [{name: file}]}\n',
      )
      await run('tap-lines')
      const [after] = service.all('job-categories')
      expectSame([after?.['externalCode'], defaultName(after)], ['ERP-1', defaultName(category)])
    })
    await step('target-protime fails the run when a record is rejected, and says why', async () => {
      writeFileSync(join(project.folder, 'job_categories.csv'), 'id,external_code\n999999,X\n')
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
