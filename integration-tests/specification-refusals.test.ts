import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Emulator, startEmulator } from '../emulator/emulator.ts'
import { run } from './testing/run.ts'

let emulator: Emulator
beforeEach(async () => {
  emulator = await startEmulator({ dialect: 'specification', people: 2 })
})
afterEach(() => emulator.close())

const read = (catalog: readonly string[], settings: object = {}) =>
  run({
    program: 'source-protime',
    command: 'read',
    in: 'process',
    config: { ...emulator.config(), ...settings },
    catalog,
  })

describe('what the service refuses', () => {
  // spec: Errors: 400 external reference management
  it.each([400, 404])(
    'of the references of one collection (%d) leaves those of the others',
    async (status) => {
      emulator.fail('/external-references/circles', status)
      const { errors, records } = await read(['external_references'])
      const collections = new Set(records('external_references').map((row) => row['collection']))
      expect([errors, collections.has('people')]).toEqual([[], true])
    },
  )

  // spec: Limits: access-clocking delta start date
  it('of the days before a delta is said, and the days since are read', async () => {
    const result = await read(['access_clockings'], { start_date: '2020-01-01' })
    expect([result.errors, result.records('access_clockings').length, result.logs]).toEqual([
      [],
      emulator.all('access-clockings').length,
      expect.arrayContaining([
        expect.stringMatching(/^WARN access_clockings: .*days before 2025-01-01 cannot be read/),
      ]),
    ])
  })
})
