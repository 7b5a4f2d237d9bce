import { afterEach, describe, expect, it } from 'vitest'
import type { SingerMessage, SingerState } from '../src/protocol/acceptance/messages.ts'
import { startTenant, type Tenant } from './engines/tenant.ts'
import { tap } from './testing/run.ts'
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

let tenant: Tenant
afterEach(() => tenant.emulator.close())

const CHANGES = { inserts: 30, updates: 30, deletes: 30, softDeletes: 3 }

/** Two targets, each asked for all streams after each sync. */
function targets() {
  const warehouses = [createSingerWarehouse(true), createSingerWarehouse(false)]
  return {
    load: (messages: readonly SingerMessage[]) => {
      for (const warehouse of warehouses) warehouse.load(messages)
    },
    async faults(): Promise<string[]> {
      const faults: string[] = []
      for (const stream of tenant.streams) {
        const truth = await tenant.truth(stream)
        for (const warehouse of warehouses)
          faults.push(...differences(stream, warehouse.rows(stream), truth))
      }
      return faults
    },
  }
}

describe('a whole tenant over Singer', () => {
  it('is in both kinds of target after the first sync, after changes, and after every link has died', async () => {
    tenant = await startTenant()
    const { config, emulator } = tenant
    const { load, faults } = targets()
    const synced = async (state?: SingerState) => {
      const result = await tap({ in: 'process', config, state })
      expect([result.exitCode, result.stderr.includes('ERROR')]).toEqual([0, false])
      load(result.messages)
      expect(await faults()).toEqual([])
      return result.state
    }
    const first = await synced()
    emulator.randomChanges(CHANGES)
    const second = await synced(first)
    emulator.randomChanges({ ...CHANGES, seed: 2 })
    emulator.advance({ hours: 73 })
    await synced(second)
  })

  it('loses its ghosts by ACTIVATE_VERSION when it is read again without a state', async () => {
    tenant = await startTenant()
    const { config, emulator } = tenant
    const warehouse = createSingerWarehouse(true)
    warehouse.load((await tap({ in: 'process', config })).messages)
    emulator.randomChanges(CHANGES)
    emulator.advance({ hours: 1 })
    warehouse.load((await tap({ in: 'process', config })).messages)
    for (const stream of tenant.streams) {
      expect(differences(stream, warehouse.rows(stream), await tenant.truth(stream))).toEqual([])
    }
  })

  it('has a state that survives the merge of Meltano, with the same keys at each line', async () => {
    tenant = await startTenant()
    const { config, emulator } = tenant
    const first = await tap({ in: 'process', config })
    emulator.randomChanges(CHANGES)
    emulator.advance({ hours: 73 })
    const second = await tap({ in: 'process', config, state: first.state })
    const states = [...first.messages, ...second.messages].flatMap((message) =>
      message.type === 'STATE' ? [message.value] : [],
    )
    const shapes = states.flatMap(({ bookmarks }) =>
      Object.values(bookmarks).map((bookmark) => Object.keys(bookmark).toSorted().join()),
    )
    expect(new Set(shapes).size).toBe(1)
    const merged = states.reduce((all, state) => meltanoMerge({ ...state }, all), {})
    expect(merged).toEqual(second.state)
  })
})
