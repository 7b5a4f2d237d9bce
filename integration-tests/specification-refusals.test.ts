import { describe, expect, it } from 'vitest'
import { type EmulatorOptions, startEmulator } from '../emulator/emulator.ts'
import { run } from './connector.ts'

describe('what the service refuses', () => {
  const read = async (names: readonly string[], options: EmulatorOptions, status?: number) => {
    const limited = await startEmulator({ dialect: 'specification', people: 1, ...options })
    if (status !== undefined) limited.fail('/external-references/circles', status)
    try {
      return await run('read', { config: limited.config(), catalog: names })
    } finally {
      await limited.close()
    }
  }

  it.each([
    ['has no list or delta', {}, /job_categories.*does not offer this to your tenant or API \(404/],
    [
      'is not in the scopes of the client',
      { clients: [{ id: 'a', secret: 'b', scopes: ['employers'] }] },
      /connector-svcapi-job-categories\.read/,
    ],
  ])('because it %s fails alone', async (_, options, words) => {
    const { errors, records } = await read(['employers', 'job_categories'], options)
    expect([errors, records('employers').length > 0]).toMatchObject([
      [{ failure_type: 'config_error', message: expect.stringMatching(words) }],
      true,
    ])
  })

  it.each([400, 404])(
    'of the references of one collection (%d) leaves those of the others',
    async (status) => {
      const { errors, records } = await read(['external_references'], {}, status)
      const collections = new Set(records('external_references').map((row) => row['collection']))
      expect([errors, collections.has('people')]).toEqual([[], true])
    },
  )
})
