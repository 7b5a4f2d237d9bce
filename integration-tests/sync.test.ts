import { afterEach, describe, expect, it } from 'vitest'
import { type Emulator, type EmulatorOptions, startEmulator } from '../emulator/emulator.ts'
import { streams } from '../src/streams/streams.ts'
import { run } from './testing/run.ts'
import { createWarehouse, differences, type Rule } from './testing/warehouse.ts'

let emulator: Emulator
afterEach(() => emulator.close())

async function start(options: EmulatorOptions = {}): Promise<object> {
  emulator = await startEmulator({ people: 5, months: 2, pageSize: 50, ...options })
  return { ...emulator.config(), activity_structures: emulator.activityStructures }
}

const names = [...streams.keys()]

function truth(stream: string): Record<string, unknown>[] {
  return emulator.all((streams.get(stream) as { collection: string }).collection)
}

describe('a whole tenant', () => {
  // spec: Service 2
  it('is in the warehouse after the first sync, after changes, and after every delta link has died', async () => {
    const config = await start()
    const warehouses = (['highest-cursor', 'last-write'] as Rule[]).map((rule) =>
      createWarehouse(rule),
    )
    const sync = async (state?: unknown) => {
      const result = await run({
        program: 'source-protime',
        command: 'read',
        config,
        catalog: names,
        state,
      })
      expect(result.errors).toEqual([])
      for (const warehouse of warehouses) warehouse.load(result.messages)
      for (const stream of names.filter((n) => n !== 'external_references')) {
        for (const warehouse of warehouses) {
          expect(differences(stream, warehouse.rows(stream), truth(stream))).toEqual([])
        }
      }
      return result.state
    }
    const first = await sync()
    emulator.randomChanges({ inserts: 30, updates: 30, deletes: 30, softDeletes: 3 })
    const second = await sync(first)
    emulator.randomChanges({ inserts: 30, updates: 30, deletes: 30, softDeletes: 3, seed: 2 })
    emulator.advance({ hours: 73 })
    await sync(second)
  })
})
