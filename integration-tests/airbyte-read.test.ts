import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type Emulator, type EmulatorOptions, startEmulator } from '../emulator/emulator.ts'
import { streams } from '../src/streams/streams.ts'
import type { Chosen } from './testing/files.ts'
import { type AirbyteOptions, type AirbyteRun, run } from './testing/run.ts'

let emulator: Emulator
beforeEach(async () => {
  emulator = await startEmulator({ people: 3, months: 1 })
})
afterEach(() => emulator.close())

/** Another service in place of the usual one. */
async function serve(options: EmulatorOptions): Promise<void> {
  await emulator.close()
  emulator = await startEmulator({ people: 3, months: 1, ...options })
}

const every = [...streams.keys()]

function configOf(extra: object = {}): object {
  return { ...emulator.config(), activity_structures: emulator.activityStructures, ...extra }
}

function here(command: AirbyteOptions['command'], files: Partial<AirbyteOptions>) {
  const config = configOf()
  return run({ program: 'source-protime', command, in: 'process', config, ...files })
}

function read(catalog: readonly Chosen[], extra: { state?: unknown; config?: object } = {}) {
  return here('read', { ...extra, catalog })
}

function check(config = configOf()): Promise<AirbyteRun> {
  return here('check', { config })
}

/** The last status of each stream. */
function outcomes({ messages }: AirbyteRun): Record<string, string> {
  return Object.fromEntries(
    messages.flatMap(({ trace }) => {
      const status = trace?.stream_status
      return status === undefined ? [] : [[status.stream_descriptor.name, status.status]]
    }),
  )
}

function errorsOf({ errors }: AirbyteRun): (readonly [stream: string | undefined, type: string])[] {
  return errors.map(({ stream_descriptor, failure_type }) => [
    stream_descriptor?.name,
    failure_type,
  ])
}

const client = (scopes?: readonly string[]) => [
  { id: 'connector', secret: 'emulator-secret', ...(scopes && { scopes }) },
]

describe('check', () => {
  it('succeeds with one request per list, and never starts a delta', async () => {
    const { messages, exitCode } = await check()
    expect(messages.map(({ connectionStatus }) => connectionStatus)).toEqual([
      { status: 'SUCCEEDED', message: `${every.length} of ${every.length} streams can be read.` },
    ])
    expect(exitCode).toBe(0)
    const lists = every.length - 1 + emulator.activityStructures.length
    expect(emulator.requests.length).toBe(1 + lists)
    expect(emulator.requests.filter(({ query }) => /delta/i.test(query))).toEqual([])
  })

  it('fails with exit code 0 for a wrong secret', async () => {
    const { messages, exitCode, stdout } = await check(configOf({ client_secret: 'wrong-secret' }))
    expect(messages).toMatchObject([
      {
        type: 'CONNECTION_STATUS',
        connectionStatus: { status: 'FAILED', message: expect.stringContaining('Check both') },
      },
    ])
    expect(exitCode).toBe(0)
    expect(stdout).not.toContain('wrong-secret')
  })

  it('names what cannot be read when the rest can, as a read finds it', async () => {
    emulator.fail('/people', 403)
    emulator.fault('/clockings', 'html')
    const { messages } = await check()
    const [status] = messages.map(({ connectionStatus }) => connectionStatus)
    expect(status?.status).toBe('SUCCEEDED')
    expect(status?.message).toMatch(
      new RegExp(
        `^${every.length - 2} of ${every.length} .*: clockings \\(what.*; people \\(403: `,
      ),
    )
    const outcome = outcomes(await read(['people', 'clockings', 'jobs']))
    expect(outcome).toEqual({ people: 'INCOMPLETE', clockings: 'INCOMPLETE', jobs: 'COMPLETE' })
  })

  it('claims nothing of a service that has few lists', async () => {
    await serve({ dialect: 'specification', clients: client() })
    const { messages } = await check()
    const [status] = messages.map(({ connectionStatus }) => connectionStatus)
    expect(status?.message).toMatch(
      new RegExp(`^4 of ${every.length} streams can be read.*only a delta would tell: .*jobs`),
    )
  })

  it('names the setting when the API has another name', async () => {
    const { environment } = configOf() as { environment: object }
    const { messages } = await check(configOf({ environment: { ...environment, api_name: 'x' } }))
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
    ['fails', () => emulator.fail(/./, 503), /The service fails \(503/],
    ['breaks every connection', () => emulator.fault(/./, 'reset'), /127\.0\.0\.1/],
    ['is not there', () => emulator.close(), /127\.0\.0\.1/],
  ])('fails with exit code 0 and says why when the service %s', async (_, break_, words) => {
    await break_()
    const { messages, exitCode } = await check()
    expect(messages).toMatchObject([
      { connectionStatus: { status: 'FAILED', message: expect.stringMatching(words) } },
    ])
    expect(exitCode).toBe(0)
  })
})

describe('a command at the level debug', () => {
  afterEach(() => {
    vi.unstubAllEnvs()
  })

  it('tells every request, without the tokens in its query', async () => {
    vi.stubEnv('LOG_LEVEL', 'debug')
    const { logs } = await read(['people'])
    const told = logs.filter((line) => line.startsWith('DEBUG'))
    expect(told).toHaveLength(emulator.requests.length)
    expect(told[0]).toMatch(/^DEBUG POST http:.*\/connect\/token: 200, \d+ ms$/)
    expect(told[1]).toMatch(/^DEBUG GET http:.*\/people: 200, \d+ ms$/)
    expect(told.join()).not.toMatch(/token=/i)
  })
})

describe('discover', () => {
  it('offers every stream without a single request', async () => {
    const { messages, exitCode } = await here('discover', {})
    const catalog = messages.find(({ type }) => type === 'CATALOG')?.catalog
    expect(catalog?.streams.map(({ name }) => name)).toEqual(every)
    expect(messages).toHaveLength(1)
    expect(exitCode).toBe(0)
    expect(emulator.requests).toEqual([])
  })

  it('leaves activity definitions out when no structure is named', async () => {
    const { activity_structures: _, ...config } = emulator.config()
    const { messages } = await here('discover', { config })
    expect(messages[0]?.catalog?.streams.map(({ name }) => name)).toEqual(
      every.filter((name) => name !== 'activity_definitions'),
    )
  })
})

describe('the summary', () => {
  const summaryOf = ({ logs }: AirbyteRun) =>
    logs.findLast((line) => /Sync (finished|failed)/.test(line))

  it('of a sync that failed warns, and names what failed', async () => {
    emulator.fail('/jobs', 403)
    const result = await read(['people', 'jobs', 'unknown'])
    expect(summaryOf(result)).toMatch(
      /^WARN Sync failed for 2 of 3 streams: unknown, jobs\. Handed over: 3 records \(people 3 records\); /,
    )
  })

  it('of a sync without a token names every stream', async () => {
    emulator.fail('/connect/token', 500)
    expect(summaryOf(await read(['people', 'jobs']))).toMatch(
      /^WARN Sync failed for all 2 streams\. Handed over: no records; /,
    )
  })

  it('counts pages that were requested again', async () => {
    emulator.fault('/job-categories', 'html', { times: 2 })
    expect(summaryOf(await read(['job_categories']))).toMatch(/^INFO .*; 4 requests, 2 retries, /)
  })
})

describe('a start date that is not past', () => {
  const config = () => configOf({ start_date: emulator.now().toISOString().slice(0, 10) })
  const sentence = /start_date must be the day before yesterday, \d{4}-\d\d-\d\d, or earlier/

  it('fails a check', async () => {
    const { messages } = await check(config())
    expect(messages).toMatchObject([
      { connectionStatus: { status: 'FAILED', message: expect.stringMatching(sentence) } },
    ])
  })

  it('fails a read before anything is asked, in one sentence', async () => {
    const { errors } = await read(['clockings', 'people'], { config: config() })
    expect(errors).toMatchObject([
      { failure_type: 'config_error', message: expect.stringMatching(sentence) },
    ])
    expect(emulator.requests.map(({ path }) => path)).toEqual(['/connect/token'])
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
    const [row] = emulator.all('jobs')
    emulator.update('jobs', row?.['id'] as number, { name: { default: 'Another' } })
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
    expect(result.records('jobs')).toHaveLength(emulator.all('jobs').length)
    expect(result.logs.filter((log) => log.startsWith('WARN'))).toEqual([])
  })

  it.each([
    ['of another connector', { cursor: '2026-01-01' }],
    ['that marks no cursor', { __ab_no_cursor_state_message: true }],
    ['that is a text', 'abc'],
    ['that is a list', [1]],
    ['of a later version', { bookmark_version: 99 }],
    ['of which everything is missing', { bookmark_version: 1 }],
  ])('%s starts its stream over with a warning, and touches no other', async (_name, blob) => {
    const jobs = await blobOf('jobs')
    const state = [message('employers', blob), message('jobs', jobs)]
    const result = await read(['employers', 'jobs'], { state })
    expect(result.errors).toEqual([])
    expect(result.records('employers')).toHaveLength(emulator.all('employers').length)
    expect(result.records('jobs')).toEqual([])
    expect(result.logs.filter((log) => log.startsWith('WARN'))).toEqual([
      expect.stringMatching(/^WARN employers: the stored state cannot be used/),
    ])
  })

  it.each([
    ['link', 7],
    ['link', { a: 1 }],
    ['generation', 'x'],
    ['phase', 'everything'],
    ['mode', 'sometimes'],
    ['link_at', 'yesterday'],
    ['window_ids', 'not base64 of a set'],
    ['window_ids', 'AAAA'],
    ['settled', 'yes'],
  ])('whose %s is %j starts the stream over with a warning', async (field, value) => {
    const blob = { ...(await blobOf('jobs')), [field]: value }
    const result = await read(['jobs'], { state: [message('jobs', blob)] })
    expect(result.errors).toEqual([])
    expect(result.records('jobs')).toHaveLength(emulator.all('jobs').length)
    expect(result.logs.join()).toMatch(/WARN jobs: the stored state cannot be used/)
  })
})

describe('a read of which a part fails', () => {
  it('completes the others, and reports an unknown stream and an unknown mode', async () => {
    const result = await read(['nonsense', 'jobs', { name: 'employers', sync_mode: 'upside_down' }])
    expect(outcomes(result)).toEqual({
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

  it('makes no request when there is nothing that could be read', async () => {
    const result = await read(['nonsense'])
    expect(result.exitCode).toBe(1)
    expect(emulator.requests).toEqual([])
  })

  it('reports transient errors before config errors, at the end', async () => {
    emulator.fail('/employers', 403)
    emulator.fail('/work-locations', 503)
    const result = await read(['nonsense', 'employers', 'work_locations', 'jobs'])
    expect(errorsOf(result)).toEqual([
      ['work_locations', 'transient_error'],
      ['nonsense', 'config_error'],
      ['employers', 'config_error'],
    ])
    const first = result.messages.findIndex(({ trace }) => trace?.error !== undefined)
    expect(result.messages.slice(first).every(({ trace }) => trace?.error !== undefined)).toBe(true)
    expect(outcomes(result)['jobs']).toBe('COMPLETE')
  })

  // spec: Authentication 8
  // spec: Errors: 400 token endpoint, invalid_scope
  it('names the scope that a client lacks, and reads the rest with a token of all its scopes', async () => {
    await serve({ clients: client(['jobs', 'work-locations']) })
    const result = await read(['jobs', 'employers', 'work_locations'])
    expect(outcomes(result)).toEqual({
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
    expect(emulator.requests.filter(({ path }) => path === '/connect/token')).toHaveLength(2)
    expect(emulator.requests.filter(({ path }) => path === '/employers')).toEqual([])
  })

  // spec: Errors: 403
  it.each([401, 403])('says what to do when a list answers %s', async (status) => {
    emulator.fail('/work-locations', status)
    const result = await read(['work_locations'])
    expect(errorsOf(result)).toEqual([['work_locations', 'config_error']])
    expect(result.errors[0]?.message).toContain('or deselect the stream')
  })

  // spec: Errors: 400 token endpoint, invalid_client
  it('leaves every stream incomplete when the secret is wrong, with one config error', async () => {
    const result = await read(['jobs', 'people'], { config: configOf({ client_secret: 'wrong' }) })
    expect(outcomes(result)).toEqual({ jobs: 'INCOMPLETE', people: 'INCOMPLETE' })
    expect(errorsOf(result)).toEqual([[undefined, 'config_error']])
    expect(result.exitCode).toBe(1)
    expect(emulator.requests).toHaveLength(1)
  })

  it('gives a stream up at once when the service asks to wait for an hour, and reads the rest', async () => {
    emulator.fail('/work-locations', 429, { headers: { 'retry-after': '3600' } })
    const result = await read(['work_locations', 'jobs'])
    expect(outcomes(result)).toEqual({ work_locations: 'INCOMPLETE', jobs: 'COMPLETE' })
    expect(errorsOf(result)).toEqual([['work_locations', 'transient_error']])
  })
})

describe('the dialect of the documentation', () => {
  it.each(['incremental', 'full_refresh'])('lets every stream be read (%s)', async (sync_mode) => {
    const result = await read(every.map((name) => ({ name, sync_mode })))
    expect(errorsOf(result)).toEqual([])
    expect(new Set(Object.values(outcomes(result)))).toEqual(new Set(['COMPLETE']))
    const starts = emulator.requests.filter(({ query }) => /(^|&)delta/.test(query))
    expect(starts.length > 0).toBe(sync_mode === 'incremental')
  })
})

describe('the dialect of the specification', () => {
  const deltas = ['access_clockings', 'departments', 'employers', 'jobs', 'shift_definitions']
  const readable = [...deltas, 'external_references', 'work_locations'].sort()

  // spec: Errors: 404
  it.each(['incremental', 'full_refresh'])(
    'offers little, and the rest fails alone with a sentence (%s)',
    async (sync_mode) => {
      await serve({ dialect: 'specification' })
      const names = every.filter((name) => name !== 'activity_definitions')
      const result = await read(
        names.map((name) => ({ name, sync_mode })),
        { config: emulator.config() },
      )
      const complete = Object.entries(outcomes(result)).filter(([, end]) => end === 'COMPLETE')
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
  it('has a delta serve a full refresh where there is no list, with a warning', async () => {
    await serve({ dialect: 'specification' })
    const names = ['departments', 'jobs']
    const result = await read(
      names.map((name) => ({ name, sync_mode: 'full_refresh' })),
      { config: emulator.config() },
    )
    expect(result.errors).toEqual([])
    for (const name of names) {
      expect(result.records(name)).toHaveLength(emulator.all(name).length)
      expect(result.logs.join('\n')).toContain(`WARN ${name}: the service offers no list of it`)
    }
  })
})
