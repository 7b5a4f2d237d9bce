import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startEmulator } from '../../emulator/emulator.ts'
import { guideBlock } from '../../scripts/guide-blocks.ts'
import { readStreamSchema } from '../../src/streams/streams.ts'
import { verifiedDifferences } from '../testing/protime.ts'
import type { Engine, Tools } from './engine.ts'
import { startTenant } from './tenant.ts'

/** So many differences are told. */
const TOLD = 20

const CHANGES = { inserts: 60, updates: 60, deletes: 40, softDeletes: 5 }
const NOWHERE = {
  type: 'custom',
  base_url: 'https://does-not-exist.invalid',
  auth_url: 'https://does-not-exist.invalid/tenants/demo',
}

/** PyAirbyte: Airbyte without the platform, into its DuckDB cache; the connector is the one that it installs itself. */
export const pyairbyte: Engine = {
  name: 'pyairbyte',
  requirements: ['airbyte==0.71.3'],
  // What PyAirbyte imports but for DuckDB: that of its version cannot be used in a fork.
  imports: [
    ...['airbyte_cdk', 'airbyte_api', 'fastmcp', 'google.cloud.bigquery', 'pandas'],
    'snowflake.sqlalchemy',
  ],
  async run(tools) {
    await runWritingGuide(tools)
    const { wheel, folder, python, step } = tools
    const { emulator, config, streams } = await startTenant()
    const good = join(folder, 'config.json')
    const bad = join(folder, 'wrong-secret.json')
    const away = join(folder, 'wrong-address.json')
    writeFileSync(good, JSON.stringify(config))
    writeFileSync(bad, JSON.stringify({ ...config, client_secret: 'wrong' }))
    writeFileSync(away, JSON.stringify({ ...config, environment: NOWHERE }))
    const askOf =
      (connector: string) =>
      async (command: string, file: string, ...rest: string[]) => {
        const output = await python('pyairbyte.py', [command, connector, file, ...rest])
        return JSON.parse(output.trim().split('\n').at(-1) ?? '') as unknown
      }
    const database = join(folder, 'cache.duckdb')
    // Where PyAirbyte installs the wheel.
    const installed = join(folder, 'installed/.venv-source-protime/bin/source-protime')
    const ask = askOf(installed)
    const reads = (name: string, by = ask) =>
      step(name, async () => {
        const tables = await by('read', good, database)
        const rows = Object.entries(tables as Record<string, unknown[]>)
        const missing = streams.filter((stream) => !rows.some(([name]) => name === stream))
        const lines = rows
          .filter(([stream]) => stream !== 'inventory')
          .flatMap(([stream, table]) => table.map((row) => JSON.stringify({ stream, row })))
        const printed = join(folder, 'rows.jsonl')
        writeFileSync(printed, lines.join('\n'))
        const differences = await verifiedDifferences(config, '--rows', printed)
        const faults = [
          ...missing.map((stream) => `${stream} has no table`),
          ...differences.slice(0, TOLD),
        ]
        if (faults.length > 0) throw new Error(faults.join('\n'))
      })
    try {
      await reads(
        'installs the connector itself, from a pip_url, and holds the tenant',
        askOf(wheel),
      )
      await step('takes a good configuration', async () => expect(await ask('check', good), true))
      await step('says why a wrong secret is refused', async () =>
        expectWords(await ask('check', bad), 'client secret for this tenant'),
      )
      await step('says which host cannot be reached', async () =>
        expectWords(await ask('check', away), 'does-not-exist.invalid'),
      )
      await step('discovers every stream', async () =>
        expect(
          ((await ask('discover', good)) as string[]).toSorted(),
          [...streams, 'inventory'].toSorted(),
        ),
      )
      await step('makes a JSON column of each list and object', async () => {
        const tables = await ask('types', good, database)
        expect(notJson(tables as Types, streams), [])
      })
      emulator.randomChanges(CHANGES)
      await reads('holds the tenant after inserts, updates and deletes')
      emulator.randomChanges({ ...CHANGES, seed: 2 })
      emulator.advance({ hours: 73 })
      await reads('holds the tenant after every link has expired')
    } finally {
      await emulator.close()
    }
    await runUserGuide(tools, installed)
  },
}

function expectWords(text: unknown, words: string): void {
  if (typeof text !== 'string' || !text.includes(words)) throw new Error(`${text} lacks ${words}`)
}

/** The program of docs/streams.md, with the installed connector: a tenant, and the tenant without one person. */
async function runUserGuide(
  { folder, projectFolder, python, step }: Tools,
  source: string,
): Promise<void> {
  const { emulator, config } = await startTenant()
  const program = guideBlock('python', join(projectFolder, 'docs/streams.md'))
  const script = join(folder, 'guide.py')
  writeFileSync(
    script,
    program.replace('local_executable="source-protime"', `local_executable="${source}"`),
  )
  writeFileSync(join(folder, 'config.json'), JSON.stringify(config))
  const showsEverybody = async () => {
    const [, count] = /^\[(\d+) rows x \d+ columns\]$/m.exec(await python(script, [])) ?? []
    expect(count, String(emulator.all('people').length))
  }
  try {
    await step('runs the program of docs/streams.md', showsEverybody)
    emulator.remove('people', emulator.all('people')[0]?.['id'] as number)
    await step('runs it again after a person was deleted', showsEverybody)
  } finally {
    await emulator.close()
  }
}

/** The program that the guide shows: a tenant's references, written back to it, change nothing. */
async function runWritingGuide({ folder, projectFolder, python, step }: Tools): Promise<void> {
  const clients = [{ id: 'writer', secret: 'b-secret', scopes: 'all' }] as const
  const emulator = await startEmulator({ people: 8, months: 1, clients })
  const home = join(folder, 'writing')
  mkdirSync(home)
  const script = join(home, 'write.py')
  writeFileSync(script, guideBlock('python pyairbyte', join(projectFolder, 'docs/writing.md')))
  // It runs in the folder of the engine, as in a clone.
  symlinkSync(join(projectFolder, 'bin'), join(folder, 'bin'))
  writeFileSync(join(folder, 'config.json'), JSON.stringify(emulator.config()))
  emulator.setReference('people', 'hr', 'E-1', 1)
  try {
    await step(
      'writes by the program of the guide what it has read, which changes nothing',
      async () => {
        await python(script, [])
        const sent = emulator.requests.map(({ method, path }) => `${method} ${path}`)
        const changes = sent.filter((one) => !/^GET |\/connect\//.test(one))
        expect(changes, [])
        // The destination has asked what the service holds.
        expect(sent.includes('GET /external-references/people/hr'), true)
      },
    )
  } finally {
    await emulator.close()
  }
}

type Types = Readonly<Record<string, Readonly<Record<string, string>>>>

/** Fields that are lists or objects, and have a column of another type. */
function notJson(tables: Types, streams: readonly string[]): string[] {
  return streams.flatMap((stream) =>
    Object.entries(readStreamSchema(stream).properties)
      .filter(([, { type }]) => /^(array|object)$/.test(String([type].flat()[0])))
      .filter(([field]) => tables[stream]?.[field.toLowerCase()] !== 'JSON')
      .map(([field]) => `${stream}.${field}`),
  )
}

function expect(actual: unknown, expected: unknown): void {
  const [given, wanted] = [JSON.stringify(actual), JSON.stringify(expected)]
  if (given !== wanted) throw new Error(`${given} instead of ${wanted}`)
}
