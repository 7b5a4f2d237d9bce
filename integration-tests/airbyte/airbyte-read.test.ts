import { afterEach, describe, expect, it, vi } from 'vitest'
import { streams } from '../../src/streams/streams.ts'
import type { Chosen } from '../testing/files.ts'
import type { AirbyteOptions, AirbyteRun } from '../testing/run.ts'
import { clientOf, smallService, streamStatuses } from '../testing/small-service.ts'

const service = smallService()
const every = [...streams.keys()]

function read(
  catalog: readonly Chosen[],
  options: Partial<AirbyteOptions> = {},
): Promise<AirbyteRun> {
  return service.run('read', { catalog, ...options })
}

function errorsOf({ errors }: AirbyteRun): (readonly [stream: string | undefined, type: string])[] {
  return errors.map(({ stream_descriptor, failure_type }) => [
    stream_descriptor?.name,
    failure_type,
  ])
}

describe('a command at the level debug', () => {
  afterEach(() => {
    vi.unstubAllEnvs()
  })

  it.each([
    ['by LOG_LEVEL', 'debug', []],
    ['by --debug', '', ['--debug']],
  ])('tells every request, without the tokens in its query: %s', async (_, level, words) => {
    vi.stubEnv('LOG_LEVEL', level)
    const { logs } = await read(['people'], { words })
    const told = logs.filter((line) => line.startsWith('DEBUG'))
    expect(told).toHaveLength(service.emulator.requests.length)
    expect(told[0]).toMatch(/^DEBUG POST http:.*\/connect\/token: 200, \d+ ms$/)
    expect(told[1]).toMatch(/^DEBUG GET http:.*\/people: 200, \d+ ms$/)
    expect(told.join()).not.toMatch(/token=/i)
  })
})

describe('the summary', () => {
  const summaryOf = ({ logs }: AirbyteRun) =>
    logs.findLast((line) => /Sync (finished|failed)/.test(line))

  it('of a sync that failed warns, and names what failed', async () => {
    service.emulator.fail('/jobs', 403)
    const result = await read(['people', 'jobs', 'unknown'])
    expect(summaryOf(result)).toMatch(
      /^WARN Sync failed for 2 of 3 streams: unknown, jobs\. Written: 3 records \(people 3 records\); /,
    )
  })

  it('of a sync without a token names every stream', async () => {
    service.emulator.fail('/connect/token', 500)
    expect(summaryOf(await read(['people', 'jobs']))).toMatch(
      /^WARN Sync failed for all 2 streams\. Written: no records; /,
    )
  })

  it('counts pages that were requested again', async () => {
    service.emulator.fault('/job-categories', 'html', { times: 2 })
    expect(summaryOf(await read(['job_categories']))).toMatch(/^INFO .*; 4 requests, 2 retries, /)
  })
})

describe('a read that fails in part', () => {
  it('completes the others, and reports an unknown stream and an unknown mode', async () => {
    const result = await read(['nonsense', 'jobs', { name: 'employers', sync_mode: 'upside_down' }])
    expect(streamStatuses(result)).toEqual({
      nonsense: 'INCOMPLETE',
      employers: 'INCOMPLETE',
      jobs: 'COMPLETE',
    })
    expect(errorsOf(result)).toEqual([
      ['nonsense', 'config_error'],
      ['employers', 'config_error'],
    ])
    expect(result.errors[1]?.message).toContain('upside_down')
    expect(result.exitCode).toBe(1)
  })

  it('makes no request if no stream can be read', async () => {
    const result = await read(['nonsense'])
    expect(result.exitCode).toBe(1)
    expect(service.emulator.requests).toEqual([])
  })

  it('reports transient errors before config errors, at the end', async () => {
    service.emulator.fail('/employers', 403)
    service.emulator.fail('/work-locations', 503)
    const result = await read(['nonsense', 'employers', 'work_locations', 'jobs'])
    expect(errorsOf(result)).toEqual([
      ['work_locations', 'transient_error'],
      ['nonsense', 'config_error'],
      ['employers', 'config_error'],
    ])
    const first = result.messages.findIndex(({ trace }) => trace?.error !== undefined)
    expect(result.messages.slice(first).every(({ trace }) => trace?.error !== undefined)).toBe(true)
    expect(streamStatuses(result)['jobs']).toBe('COMPLETE')
  })

  // spec: Authentication 8
  // spec: Errors: 400 token endpoint, invalid_scope
  it('names the scope that a client lacks, and reads the rest with a token of all its scopes', async () => {
    await service.replace({ clients: clientOf(['jobs', 'work-locations']) })
    const result = await read(['jobs', 'employers', 'work_locations'])
    expect(streamStatuses(result)).toEqual({
      jobs: 'COMPLETE',
      employers: 'INCOMPLETE',
      work_locations: 'COMPLETE',
    })
    expect(result.errors).toMatchObject([
      {
        failure_type: 'config_error',
        message: expect.stringContaining('connector-protimeapi-employers.read'),
        stream_descriptor: { name: 'employers' },
      },
    ])
    expect(result.exitCode).toBe(1)
    // One that was refused for its scope, one without.
    expect(service.emulator.requests.filter(({ path }) => path === '/connect/token')).toHaveLength(
      2,
    )
    expect(service.emulator.requests.filter(({ path }) => path === '/employers')).toEqual([])
  })

  // spec: Errors: 403
  it.each([401, 403])('says what to do when a list answers %s', async (status) => {
    service.emulator.fail('/work-locations', status)
    const result = await read(['work_locations'])
    expect(errorsOf(result)).toEqual([['work_locations', 'config_error']])
    expect(result.errors[0]?.message).toContain(
      'To sync without the stream, deselect it in the connection. [permission-missing]',
    )
  })

  // spec: Errors: 400 token endpoint, invalid_client
  it('leaves every stream incomplete if the secret is wrong, with one config error', async () => {
    const result = await read(['jobs', 'people'], {
      config: service.config({ client_secret: 'wrong' }),
    })
    expect(streamStatuses(result)).toEqual({ jobs: 'INCOMPLETE', people: 'INCOMPLETE' })
    expect(errorsOf(result)).toEqual([[undefined, 'config_error']])
    expect(result.exitCode).toBe(1)
    expect(service.emulator.requests).toHaveLength(1)
  })

  it('gives up a stream at once if the service asks to wait for an hour, and reads the rest', async () => {
    service.emulator.fail('/work-locations', 429, { headers: { 'retry-after': '3600' } })
    const result = await read(['work_locations', 'jobs'])
    expect(streamStatuses(result)).toEqual({ work_locations: 'INCOMPLETE', jobs: 'COMPLETE' })
    expect(errorsOf(result)).toEqual([['work_locations', 'transient_error']])
  })
})

describe('columns', () => {
  const pick = (columns: readonly string[]) => [
    { name: 'people', sync_mode: 'incremental', columns },
  ]

  it('that are added to a catalog are also in the rows that have not changed', async () => {
    const few = ['id', 'changeVersion']
    const first = await read(pick(few))
    const more = pick([...few, 'lastName'])
    const { records, state } = await read(more, { state: first.state })
    expect(records('people').map(({ lastName }) => lastName)).toEqual(
      service.emulator.all('people').map(({ lastName }) => lastName),
    )
    const fewer = await read(pick(few), { state })
    expect(fewer.records('people')).toEqual([])
  })
})

describe('the dialect of the documentation', () => {
  it.each(['incremental', 'full_refresh'])(
    'allows every stream to be read (%s)',
    async (sync_mode) => {
      const result = await read(every.map((name) => ({ name, sync_mode })))
      expect(errorsOf(result)).toEqual([])
      expect(new Set(Object.values(streamStatuses(result)))).toEqual(new Set(['COMPLETE']))
      const starts = service.emulator.requests.filter(({ query }) => /(^|&)delta/.test(query))
      expect(starts.length > 0).toBe(sync_mode === 'incremental')
    },
  )
})

describe('the dialect of the specification', () => {
  const deltas = ['access_clockings', 'departments', 'employers', 'jobs', 'shift_definitions']
  const readable = [...deltas, 'external_references', 'work_locations'].sort()

  // spec: Errors: 404
  it.each(['incremental', 'full_refresh'])(
    'offers little, and the rest fails alone with a sentence (%s)',
    async (sync_mode) => {
      await service.replace({ dialect: 'specification' })
      const names = every.filter((name) => name !== 'activity_definitions')
      const result = await read(
        names.map((name) => ({ name, sync_mode })),
        { config: service.emulator.config() },
      )
      const complete = Object.entries(streamStatuses(result)).filter(
        ([, end]) => end === 'COMPLETE',
      )
      expect(complete.map(([name]) => name).sort()).toEqual(readable)
      expect(result.errors).toHaveLength(names.length - readable.length)
      for (const { failure_type, message } of result.errors) {
        expect(failure_type).toBe('config_error')
        expect(message).toMatch(/not (offer|entitled)|lacks|scope/)
      }
    },
  )

  // spec: Endpoints: GET /departments?delta
  // spec: Endpoints: GET /jobs?delta
  it('uses a delta for a full refresh if there is no list, with a warning', async () => {
    await service.replace({ dialect: 'specification' })
    const names = ['departments', 'jobs']
    const result = await read(
      names.map((name) => ({ name, sync_mode: 'full_refresh' })),
      { config: service.emulator.config() },
    )
    expect(result.errors).toEqual([])
    for (const name of names) {
      expect(result.records(name)).toHaveLength(service.emulator.all(name).length)
      expect(result.logs.join('\n')).toContain(
        `WARN ${name}: the service offers no list of this stream`,
      )
    }
  })

  it('does not take a delta for a full refresh of days that a delta does not have: they would be missing', async () => {
    const { emulator } = service
    emulator.fail(/^[/]clockings[?](?!.*&delta)/, 405)
    const result = await read([{ name: 'clockings', sync_mode: 'full_refresh' }], {
      config: { ...emulator.config(), start_date: '2024-01-01' },
    })
    expect([result.exitCode, result.records('clockings')]).toEqual([1, []])
    expect(result.errors).toMatchObject([
      { failure_type: 'config_error', message: expect.stringContaining('no days before') },
    ])
  })
})

describe('a state', () => {
  const blobOf = async (stream: string) => (await read([stream])).states(stream).at(-1)
  const message = (name: string, blob: unknown) => ({
    type: 'STREAM',
    stream: { stream_descriptor: { name }, stream_state: blob },
  })

  it.each([
    ['a list of STREAM messages', (blob: unknown) => [message('jobs', blob)]],
    [
      'one with a namespace of null',
      (blob: unknown) => [
        {
          type: 'STREAM',
          stream: { stream_descriptor: { name: 'jobs', namespace: null }, stream_state: blob },
        },
      ],
    ],
    [
      'one with counts',
      (blob: unknown) => [{ ...message('jobs', blob), sourceStats: { recordCount: 3 } }],
    ],
    [
      'a GLOBAL message',
      (blob: unknown) => [
        {
          type: 'GLOBAL',
          global: { shared_state: {}, stream_states: [message('jobs', blob).stream] },
        },
      ],
    ],
    ['a LEGACY message', (blob: unknown) => [{ type: 'LEGACY', data: { jobs: blob } }]],
    ['a message without a type', (blob: unknown) => [{ data: { jobs: blob } }]],
    ['a bare object', (blob: unknown) => ({ jobs: blob })],
    ['a single message', (blob: unknown) => message('jobs', blob)],
    [
      'a STATE message of the output',
      (blob: unknown) => ({ type: 'STATE', state: message('jobs', blob) }),
    ],
    [
      'one beside states of unknown streams',
      (blob: unknown) => [message('gone', { a: 1 }), message('jobs', blob)],
    ],
  ])('as %s continues where the last sync ended', async (_name, form) => {
    const state = form(await blobOf('jobs'))
    const [row] = service.emulator.all('jobs')
    service.emulator.update('jobs', row?.['id'] as number, { name: { default: 'Another' } })
    const result = await read(['jobs'], { state })
    expect(result.errors).toEqual([])
    expect(result.records('jobs').map(({ id }) => id)).toEqual([row?.['id']])
  })

  it.each([
    ['an empty file', ''],
    ['an empty list', []],
    ['null', null],
    ['an empty object', {}],
    ['a blob of null', [message('jobs', null)]],
    ['an empty blob', [message('jobs', {})]],
    ['no blob', [{ type: 'STREAM', stream: { stream_descriptor: { name: 'jobs' } } }]],
  ])('as %s means the beginning, without a warning', async (_name, state) => {
    const result = await read(['jobs'], { state })
    expect(result.errors).toEqual([])
    expect(result.records('jobs')).toHaveLength(service.emulator.all('jobs').length)
    expect(result.logs.filter((log) => log.startsWith('WARN'))).toEqual([])
  })
})
