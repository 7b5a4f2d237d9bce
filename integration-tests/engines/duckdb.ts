import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readStreamSchema } from '../../src/streams/streams.ts'
import { execute, expectSame } from './command.ts'
import type { Engine } from './engine.ts'
import { startTenant } from './tenant.ts'

const CHANGES = { inserts: 20, updates: 20, deletes: 10, softDeletes: 2 }

/** What a version of DuckDB does with files. */
interface FileSupport {
  /** Opens each file that it has written, and a newer one after it. */
  readonly takesTurns: boolean
  /** Its own files are of a form that a sync can read. */
  readonly makesReadable: boolean
}

/** Opens the file of `protime sync`. */
function duckDb(version: string, { takesTurns, makesReadable }: FileSupport): Engine {
  return {
    name: `duckdb-${version}`,
    // DuckDB needs pytz for columns with a time zone, such as `_known_from`.
    requirements: [`duckdb==${version}`, 'pytz==2026.3.post1'],
    async run({ folder, projectFolder, python, step }) {
      const tenant = await startTenant()
      const config = join(folder, 'config.json')
      writeFileSync(config, JSON.stringify(tenant.config))
      const sync = (file: string) =>
        execute({
          program: join(projectFolder, 'bin', 'protime'),
          args: ['sync', '--config', config, '--warehouse', file],
          folder,
        })
      const [ours, theirs] = [join(folder, 'ours.duckdb'), join(folder, 'theirs.duckdb')]
      const expectRead = async () => {
        const said = JSON.parse(await python('duckdb_file.py', ['read', ours])) as object
        const told = (stream: string, rows: number) =>
          [stream, [rows, rows, readStreamSchema(stream)['description']]] as const
        const expected = await Promise.all(
          tenant.streams.map(async (stream) => told(stream, (await tenant.truth(stream)).length)),
        )
        // The inventory has a row for each stream.
        expected.push(told('inventory', tenant.streams.length))
        expectSame(Object.entries(said).toSorted(), expected.toSorted())
      }
      try {
        await step('reads every table and view of a sync', async () => {
          expectSame((await sync(ours)).exitCode, 0)
          await expectRead()
        })
        await step('reads them after the next sync, too', async () => {
          tenant.emulator.randomChanges(CHANGES)
          expectSame((await sync(ours)).exitCode, 0)
          await expectRead()
        })
        await step('may write a table of its own, and the next sync goes on', async () => {
          await python('duckdb_file.py', ['write', ours])
          tenant.emulator.randomChanges(CHANGES)
          expectSame((await sync(ours)).exitCode, 0)
          // DuckDB 1.1 opens some files no more that a newer one has changed after it: a few statements lead to
          // that by themselves, without a sync.
          if (takesTurns) await expectRead()
        })
        const outcome = makesReadable ? 'takes' : 'refuses in a sentence'
        await step(`makes a file that a sync ${outcome}`, async () => {
          await python('duckdb_file.py', ['write', theirs])
          const { exitCode, stdout } = await sync(theirs)
          expectSame(exitCode, makesReadable ? 0 : 2)
          expectSame(stdout.includes('a newer DuckDB'), !makesReadable)
        })
      } finally {
        await tenant.emulator.close()
      }
    },
  }
}

/** The oldest and the newest that docs/warehouse.md names. */
export const duckDbs: readonly Engine[] = [
  duckDb('1.1.3', { takesTurns: false, makesReadable: true }),
  duckDb('2.0.0', { takesTurns: true, makesReadable: false }),
]
