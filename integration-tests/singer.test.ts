import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { SingerState } from '../src/protocol/acceptance/messages.ts'
import { startTenant, type Tenant } from './engines/tenant.ts'
import { type SingerRun, tap } from './testing/run.ts'
import { createSingerWarehouse, differences } from './testing/warehouse.ts'

type Value = Readonly<Record<string, unknown>>

/**
 * How Meltano puts a partial state onto the one before it: objects are merged member by member,
 * everything else is replaced whole, and an object cannot be put onto null.
 */
function meltanoMerge(partial: Value, state: Value): Value {
  const merged: Record<string, unknown> = { ...state }
  for (const [name, value] of Object.entries(partial)) {
    if (!isObject(value)) merged[name] = value
    else if (!(name in merged)) merged[name] = value
    else merged[name] = meltanoMerge(value, onto(merged[name], name))
  }
  return merged
}

function onto(value: unknown, name: string): Value {
  if (isObject(value)) return value
  throw new TypeError(`${name}: an object cannot be merged into ${JSON.stringify(value)}`)
}

function isObject(value: unknown): value is Value {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

const CHANGES = { inserts: 30, updates: 30, deletes: 30, softDeletes: 3 }

/** What is in two targets and differs from the service, of all streams. */
async function faultsOf(
  warehouses: readonly ReturnType<typeof createSingerWarehouse>[],
  { streams, truth }: Tenant,
): Promise<string[]> {
  const faults: string[] = []
  for (const stream of streams)
    for (const warehouse of warehouses)
      faults.push(...differences(stream, warehouse.rows(stream), await truth(stream)))
  return faults
}

describe('a whole tenant over Singer', () => {
  let tenant: Tenant
  /** From the beginning, after changes, and after every link has died; at last without a state. */
  let runs: SingerRun[]
  let faults: string[][]
  beforeAll(async () => {
    tenant = await startTenant()
    const { config, emulator } = tenant
    const targets = [createSingerWarehouse(true), createSingerWarehouse(false)]
    runs = []
    faults = []
    const sync = async (state?: SingerState) => {
      const run = await tap({ in: 'process', config, state })
      runs.push(run)
      for (const target of targets) target.load(run.messages)
      faults.push(await faultsOf(targets, tenant))
      return run.state
    }
    const first = await sync()
    emulator.randomChanges(CHANGES)
    const second = await sync(first)
    emulator.randomChanges({ ...CHANGES, seed: 2 })
    emulator.advance({ hours: 73 })
    await sync(second)
    await sync()
  })
  afterAll(() => tenant.emulator.close())

  it('is in both kinds of targets after the first sync, after changes, and after all links have died', () => {
    for (const { exitCode, stderr } of runs)
      expect([exitCode, stderr.includes('ERROR')]).toEqual([0, false])
    expect(faults.slice(0, 3)).toEqual([[], [], []])
  })

  it('loses its deleted rows by ACTIVATE_VERSION if it is read again without a state', async () => {
    const warehouse = createSingerWarehouse(true)
    const [first, , , again] = runs
    for (const run of [first, again]) warehouse.load(run?.messages ?? [])
    expect(await faultsOf([warehouse], tenant)).toEqual([])
  })

  it("has a state that survives Meltano's merge, with the same keys in each line", () => {
    const states = runs
      .slice(0, 3)
      .flatMap(({ messages }) => messages)
      .flatMap((message) => (message.type === 'STATE' ? [message.value] : []))
    const shapes = states.flatMap(({ bookmarks }) =>
      Object.values(bookmarks).map((bookmark) => Object.keys(bookmark).toSorted().join()),
    )
    expect(new Set(shapes).size).toBe(1)
    const merged = states.reduce((all, state) => meltanoMerge({ ...state }, all), {})
    expect(merged).toEqual(runs[2]?.state)
  })
})
