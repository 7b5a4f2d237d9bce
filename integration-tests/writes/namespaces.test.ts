import { expect, it, onTestFinished } from 'vitest'
import { startEmulator } from '../../emulator/emulator.ts'
import { record, runDestination } from '../testing/run-destination.ts'

const STREAM = 'external_references'

it.each([undefined, null, ''])(
  'a destination takes an empty namespace for none, if the catalog has %j',
  async (namespace) => {
    const clients = [{ id: 'writer', secret: 'b-secret', scopes: 'all' }] as const
    const emulator = await startEmulator({ people: 2, months: 0, clients })
    onTestFinished(() => emulator.close())
    const input = ['', null].map((own, i) => {
      const data = { collection: 'people', name: 'hr', value: `v${i}`, internalReference: i + 1 }
      return { type: 'RECORD', record: { ...Object(record(STREAM, data)).record, namespace: own } }
    })
    const streams = [{ name: STREAM, stream: { name: STREAM, json_schema: {}, namespace } }]
    const { exitCode, errors } = await runDestination('write', emulator.config(), {
      streams,
      input,
    })
    const written = emulator
      .references('people')
      .filter(({ externalReference }) => /^v\d$/.test(String(externalReference)))
    expect([exitCode, errors, written.length]).toEqual([0, [], 2])
  },
)
