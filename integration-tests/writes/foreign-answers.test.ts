import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Emulator, startEmulator } from '../../emulator/emulator.ts'
import { record, runDestination, state } from '../testing/run-destination.ts'

let emulator: Emulator
beforeEach(async () => {
  const clients = [{ id: 'writer', secret: 'b-secret', scopes: 'all' }] as const
  emulator = await startEmulator({ people: 3, months: 0, clients })
})
afterEach(() => emulator.close())

const STREAM = 'external_references'

describe('a page that answers with 200 instead of the service', () => {
  it('fails a check', async () => {
    emulator.fault(/external-references|job-categories|work-locations/, 'html')
    const { messages } = await runDestination('check', emulator.config())
    expect(messages.at(-1)?.connectionStatus).toEqual({
      status: 'FAILED',
      message: expect.stringMatching(/^Nothing can be written\. .*is not the API/),
    })
  })

  it('confirms no record, and no state is passed on', async () => {
    emulator.fault(/external-references/, 'html')
    const value = { collection: 'people', name: 'hr', value: 'anna', internalReference: 1 }
    const input = [record(STREAM, value), state(STREAM, 1)]
    const streams = [{ name: STREAM }]
    const run = await runDestination('write', emulator.config(), { streams, input })
    expect([run.exitCode, run.states]).toEqual([1, []])
    expect(JSON.stringify(run.errors)).toContain('a page, so it is not the service that responded')
  })
})
