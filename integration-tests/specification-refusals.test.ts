import { afterEach, describe, expect, it } from 'vitest'
import { type Emulator, type EmulatorOptions, startEmulator } from '../emulator/emulator.ts'
import { type Chosen, run } from './connector.ts'

let emulator: Emulator
afterEach(() => emulator.close())

async function start(options: EmulatorOptions = {}): Promise<void> {
  emulator = await startEmulator({ dialect: 'specification', people: 2, ...options })
}

const read = (catalog: readonly Chosen[], settings: object = {}) =>
  run('read', { config: { ...emulator.config(), ...settings }, catalog })

describe('what the service refuses', () => {
  it.each([
    ['has no list or delta', {}, /job_categories.*does not offer this to your tenant or API \(404/],
    [
      'is not in the scopes of the client',
      { clients: [{ id: 'a', secret: 'b', scopes: ['employers'] }] },
      /connector-svcapi-job-categories\.read/,
    ],
  ])('because it %s fails alone', async (_, options, words) => {
    await start(options)
    const { errors, records } = await read(['employers', 'job_categories'])
    expect([errors, records('employers').length]).toMatchObject([
      [{ failure_type: 'config_error', message: expect.stringMatching(words) }],
      emulator.all('employers').length,
    ])
  })

  it.each([400, 404])(
    'of the references of one collection (%d) leaves those of the others',
    async (status) => {
      await start()
      emulator.fail('/external-references/circles', status)
      const { errors, records } = await read(['external_references'])
      const collections = new Set(records('external_references').map((row) => row['collection']))
      expect([errors, collections.has('people')]).toEqual([[], true])
    },
  )

  it('because it has no list is read by the start of a delta, with a warning', async () => {
    await start()
    const result = await read([{ name: 'jobs', sync_mode: 'full_refresh' }])
    expect([result.errors, result.records('jobs').length, result.logs]).toEqual([
      [],
      emulator.all('jobs').length,
      expect.arrayContaining([expect.stringMatching(/^WARN jobs: .*no list.*a delta is started/)]),
    ])
  })

  it('of the days before a delta is said, and the days since are read', async () => {
    await start()
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
