import { describe, expect, it } from 'vitest'
import { streams } from '../../src/streams/streams.ts'
import type { AirbyteRun } from '../testing/run.ts'
import { clientOf, smallService, streamStatuses } from '../testing/small-service.ts'

const service = smallService()
const every = [...streams.keys()]

function check(config = service.config()): Promise<AirbyteRun> {
  return service.run('check', { config })
}

describe('check', () => {
  it('succeeds with one request per list, and never starts a delta', async () => {
    const { messages, exitCode } = await check()
    expect(messages.map(({ connectionStatus }) => connectionStatus)).toEqual([
      { status: 'SUCCEEDED', message: `${every.length} of ${every.length} streams can be read.` },
    ])
    expect(exitCode).toBe(0)
    const lists = every.length - 1 + service.emulator.activityStructures.length
    expect(service.emulator.requests.length).toBe(1 + lists)
    expect(service.emulator.requests.filter(({ query }) => /delta/i.test(query))).toEqual([])
  })

  it('fails with exit code 0 for a wrong secret', async () => {
    const { messages, exitCode, stdout } = await check(
      service.config({ client_secret: 'wrong-secret' }),
    )
    expect(messages).toMatchObject([
      {
        type: 'CONNECTION_STATUS',
        connectionStatus: {
          status: 'FAILED',
          message: expect.stringMatching(/Check both.* \[client-not-accepted\]$/),
        },
      },
    ])
    expect(exitCode).toBe(0)
    expect(stdout).not.toContain('wrong-secret')
  })

  it('names what cannot be read if the rest can, as a read finds it', async () => {
    service.emulator.fail('/people', 403)
    service.emulator.fault('/clockings', 'html')
    const { messages } = await check()
    const [status] = messages.map(({ connectionStatus }) => connectionStatus)
    expect(status?.status).toBe('SUCCEEDED')
    expect(status?.message).toMatch(
      new RegExp(
        `^${every.length - 2} of ${every.length} .*: clockings \\(this.*; people \\(403: `,
      ),
    )
    const outcome = streamStatuses(
      await service.run('read', { catalog: ['people', 'clockings', 'jobs'] }),
    )
    expect(outcome).toEqual({ people: 'INCOMPLETE', clockings: 'INCOMPLETE', jobs: 'COMPLETE' })
  })

  it('claims nothing about a service with few lists', async () => {
    await service.replace({ dialect: 'specification', clients: clientOf() })
    const { messages } = await check()
    const [status] = messages.map(({ connectionStatus }) => connectionStatus)
    expect(status?.message).toMatch(
      new RegExp(`^4 of ${every.length} streams can be read.*only a delta would show it: .*jobs`),
    )
  })

  it('names the setting if the API has another name', async () => {
    const { environment } = service.config() as { environment: object }
    const { messages } = await check(
      service.config({ environment: { ...environment, api_name: 'x' } }),
    )
    expect(messages).toMatchObject([
      {
        connectionStatus: {
          status: 'FAILED',
          message: expect.stringContaining('Set environment.api_name to protimeapi.'),
        },
      },
    ])
  })

  it.each([
    ['fails', () => service.emulator.fail(/./, 503), /The service failed \(503/],
    ['breaks every connection', () => service.emulator.fault(/./, 'reset'), /127\.0\.0\.1/],
    ['is not there', () => service.emulator.close(), /127\.0\.0\.1/],
  ])('fails with exit code 0 and says why when the service %s', async (_, break_, words) => {
    await break_()
    const { messages, exitCode } = await check()
    expect(messages).toMatchObject([
      { connectionStatus: { status: 'FAILED', message: expect.stringMatching(words) } },
    ])
    expect(exitCode).toBe(0)
  })
})

describe('discover', () => {
  it('offers every stream without a single request', async () => {
    const { messages, exitCode } = await service.run('discover')
    const catalog = messages.find(({ type }) => type === 'CATALOG')?.catalog
    expect(catalog?.streams.map(({ name }) => name)).toEqual([...every, 'inventory'])
    expect(messages).toHaveLength(1)
    expect(exitCode).toBe(0)
    expect(service.emulator.requests).toEqual([])
  })

  it('leaves out activity definitions if no structure is configured', async () => {
    const { activity_structures: _, ...config } = service.emulator.config()
    const { messages } = await service.run('discover', { config })
    expect(messages[0]?.catalog?.streams.map(({ name }) => name)).toEqual(
      [...every, 'inventory'].filter((name) => name !== 'activity_definitions'),
    )
  })
})

describe('a start date that is not past', () => {
  const config = () =>
    service.config({ start_date: service.emulator.now().toISOString().slice(0, 10) })
  const sentence = /start_date must be the day before yesterday, \d{4}-\d\d-\d\d, or earlier/

  it('fails a check', async () => {
    const { messages } = await check(config())
    expect(messages).toMatchObject([
      { connectionStatus: { status: 'FAILED', message: expect.stringMatching(sentence) } },
    ])
  })

  it('fails a read before any request, in one sentence', async () => {
    const { errors } = await service.run('read', {
      catalog: ['clockings', 'people'],
      config: config(),
    })
    expect(errors).toMatchObject([
      { failure_type: 'config_error', message: expect.stringMatching(sentence) },
    ])
    expect(service.emulator.requests.map(({ path }) => path)).toEqual(['/connect/token'])
  })
})
