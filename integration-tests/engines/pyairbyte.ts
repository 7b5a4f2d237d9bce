import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { rowDifferences } from './compare-rows.ts'
import type { Engine } from './engine.ts'
import { type Row, startTenant } from './tenant.ts'

const CHANGES = { inserts: 60, updates: 60, deletes: 40, softDeletes: 5 }
const NOWHERE = {
  type: 'custom',
  base_url: 'https://does-not-exist.invalid',
  auth_url: 'https://does-not-exist.invalid/tenants/acme',
}

/** PyAirbyte: Airbyte without the platform, into its DuckDB cache. */
export const pyairbyte: Engine = {
  name: 'pyairbyte',
  requirements: ['airbyte==0.71.3'],
  async run({ executable, folder, python, step }) {
    const { emulator, config, streams, truth } = await startTenant()
    const good = join(folder, 'config.json')
    const bad = join(folder, 'wrong-secret.json')
    const away = join(folder, 'wrong-address.json')
    writeFileSync(good, JSON.stringify(config))
    writeFileSync(bad, JSON.stringify({ ...config, client_secret: 'wrong' }))
    writeFileSync(away, JSON.stringify({ ...config, environment: NOWHERE }))
    const ask = async (command: string, file: string, ...rest: string[]) => {
      const output = await python('pyairbyte.py', [command, executable, file, ...rest])
      return JSON.parse(output.trim().split('\n').at(-1) ?? '') as unknown
    }
    const reads = (name: string) =>
      step(name, async () => {
        const tables = await ask('read', good, join(folder, 'cache.duckdb'))
        const faults: string[] = []
        for (const stream of streams) {
          const table = (tables as Record<string, Row[]>)[stream]
          faults.push(
            ...(table === undefined
              ? [`${stream} has no table`]
              : rowDifferences(stream, table, await truth(stream))),
          )
        }
        if (faults.length > 0) throw new Error(faults.join('\n'))
      })
    try {
      await step('takes a good configuration', async () => expect(await ask('check', good), true))
      await step('says why a wrong secret is refused', async () =>
        expectWords(await ask('check', bad), 'client secret for this tenant'),
      )
      await step('says which host cannot be reached', async () =>
        expectWords(await ask('check', away), 'does-not-exist.invalid'),
      )
      await step('discovers every stream', async () =>
        expect(((await ask('discover', good)) as string[]).toSorted(), streams.toSorted()),
      )
      await reads('holds the tenant after the first read')
      emulator.randomChanges(CHANGES)
      await reads('holds the tenant after inserts, updates and deletes')
      emulator.randomChanges({ ...CHANGES, seed: 2 })
      emulator.advance({ hours: 73 })
      await reads('holds the tenant after every link has expired')
    } finally {
      await emulator.close()
    }
  },
}

function expectWords(text: unknown, words: string): void {
  if (typeof text !== 'string' || !text.includes(words)) throw new Error(`${text} lacks ${words}`)
}

function expect(actual: unknown, expected: unknown): void {
  const [given, wanted] = [JSON.stringify(actual), JSON.stringify(expected)]
  if (given !== wanted) throw new Error(`${given} instead of ${wanted}`)
}
