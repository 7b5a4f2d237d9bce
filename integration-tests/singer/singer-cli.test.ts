import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTenant, type Tenant } from '../engines/tenant.ts'
import { tap } from '../testing/run.ts'
import { breadcrumbsOf, type Catalog, selecting } from '../testing/singer-messages.ts'

let tenant: Tenant
beforeAll(async () => {
  tenant = await startTenant()
})
afterAll(() => tenant.emulator.close())

/** Runs the tap in this process, where it does not matter in which. */
const here: typeof tap = (options) => tap({ in: 'process', ...options })

const one = selecting(['job_categories'])

describe('--discover', () => {
  it('lists every stream with metadata for every property, however deep', async () => {
    const { stdout, exitCode } = await here({ config: tenant.config, command: '--discover' })
    const { streams } = JSON.parse(stdout) as Catalog
    expect([exitCode, streams.map(({ stream }) => stream)]).toEqual([
      0,
      [...tenant.streams, 'inventory'],
    ])
    for (const { schema, metadata } of streams) {
      const marked = metadata.map(({ breadcrumb }) => breadcrumb.join('.')).toSorted()
      const all = ['', ...breadcrumbsOf(schema).map((breadcrumb) => breadcrumb.join('.'))]
      expect(marked).toEqual(all.toSorted())
    }
  })

  it('sends no request', async () => {
    const before = tenant.emulator.requests.length
    await here({ config: tenant.config, command: '--discover' })
    expect(tenant.emulator.requests.length).toBe(before)
  })

  it('needs no configuration', async () => {
    const { stdout, exitCode } = await here({ command: '--discover' })
    expect([exitCode, (JSON.parse(stdout) as Catalog).streams.length > 30]).toEqual([0, true])
  })
})

describe('the configuration', () => {
  it('is merged from files, of which later ones win', async () => {
    const config = { ...tenant.config, client_secret: 'wrong-secret' }
    const beside = { 'secret.json': { client_secret: 'emulator-secret' } }
    const words = ['--config', 'secret.json']
    expect((await tap({ config, catalog: one, words, beside })).exitCode).toBe(0)
  })

  it('prefers variables to files, wherever ENV is', async () => {
    const environment = { TAP_PROTIME_CLIENT_SECRET: 'emulator-secret' }
    const config = { ...tenant.config, client_secret: 'wrong-secret' }
    const words = ['--config', 'ENV', '--config', 'config.json']
    expect((await tap({ config, catalog: one, words, environment })).exitCode).toBe(0)
  })

  it('reads variables only with ENV', async () => {
    const environment = { TAP_PROTIME_CLIENT_SECRET: 'wrong-secret' }
    const run = await here({ config: tenant.config, catalog: one, environment })
    expect(run.exitCode).toBe(0)
  })

  it('with an unknown setting causes a warning, and is used', async () => {
    const config = { ...tenant.config, concurency: 8 }
    const { exitCode, stderr } = await here({ config, catalog: one })
    expect([exitCode, stderr]).toEqual([
      0,
      'WARNING concurency is not a setting; did you mean concurrency? [unknown-setting]\n',
    ])
  })

  it('is refused if a restriction of personal data is mistyped, in a file or a variable', async () => {
    const environment = { TAP_PROTIME_PERSONALDATA: 'minimal' }
    const words = ['--config', 'ENV']
    const message = 'personaldata is not a setting; did you mean personal_data?'
    for (const given of [
      { config: tenant.config, words, environment },
      { config: { ...tenant.config, personaldata: 'minimal' } },
    ]) {
      const { exitCode, stdout, stderr } = await here({ ...given, catalog: one })
      expect([exitCode, stdout.includes('RECORD')]).toEqual([1, false])
      expect(stderr).toContain(message)
    }
  })

  it('is reported as missing in one sentence', async () => {
    const { exitCode, stdout, stderr } = await here({})
    expect([exitCode, stdout]).toEqual([1, ''])
    expect(stderr).toMatch(/--config is missing/)
  })
})

describe('a wrong secret', () => {
  it.each(['text', 'json'])(
    'ends with an exit code and a sentence without it, as %s',
    async (format) => {
      const config = { ...tenant.config, client_secret: 'wrong-secret-77' }
      const environment = { TAP_PROTIME_LOG_FORMAT: format, TAP_PROTIME_LOG_LEVEL: 'debug' }
      const { exitCode, stdout, stderr } = await here({ config, environment })
      expect(exitCode).toBe(1)
      expect(stderr).toMatch(/client_secret|client secret|credentials/i)
      expect(stdout + stderr).not.toContain('wrong-secret-77')
    },
  )
})

describe('a sync that fails', () => {
  it.each([
    ['as a whole', { client_secret: 'wrong-secret-77' }, /^ERROR .*Check both/],
    ['in one stream', {}, /^ERROR job_categories: The client has no access/],
  ])('%s says why in the last line of both outputs together', async (_, extra, words) => {
    tenant.emulator.fail('/job-categories', 403, { times: 1 })
    const config = { ...tenant.config, ...extra }
    const run = await tap({ config, catalog: one, isMerged: true })
    const lines = run.stdout.trimEnd().split('\n')
    expect(lines.at(-1)).toMatch(words)
    expect(lines.at(-2)).toMatch(/^\{"type":"STATE"/)
  })
})

describe('--state', () => {
  it.each([
    ['{"bookmarks":', 'it is not JSON'],
    ['[]', 'it is not an object'],
    ['{"bookmarks":[]}', 'its bookmarks are not an object'],
    ['[{"type":"STREAM","stream":{}}]', 'is a state of source-protime'],
    ['{"type":"STATE","state":{"type":"STREAM"}}', 'is a state of source-protime'],
  ])('that is damaged (%s) is refused without a request', async (state, reason) => {
    const before = tenant.emulator.requests.length
    const { exitCode, stdout, stderr } = await here({ config: tenant.config, state })
    expect([exitCode, stdout]).toEqual([1, ''])
    expect(stderr).toContain(reason)
    expect(tenant.emulator.requests.length).toBe(before)
  })

  it('is repeated by the first line, including streams that are not read', async () => {
    const first = await here({ config: tenant.config, catalog: selecting(['jobs', 'sectors']) })
    const again = await here({ config: tenant.config, catalog: one, state: first.state })
    expect(again.messages[0]).toEqual({ type: 'STATE', value: first.state })
    expect(again.state?.bookmarks['jobs']).toEqual(first.state?.bookmarks['jobs'])
  })

  it('with one bookmark that cannot be used reads that stream from the beginning and says so', async () => {
    const state = { bookmarks: { job_categories: { bookmark_version: 99 } } }
    const run = await here({ config: tenant.config, catalog: one, state })
    expect(run.stderr).toMatch(/WARNING job_categories: the stored state cannot be used/)
    expect(run.records('job_categories')).toHaveLength(
      (await tenant.truth('job_categories')).length,
    )
  })
})

describe('a reset of one stream', () => {
  it('by other settings in its bookmark reads it from the beginning and still deletes missing rows', async () => {
    const catalog = selecting(['jobs'])
    const { state } = await here({ config: tenant.config, catalog })
    const [gone] = await tenant.truth('jobs')
    tenant.emulator.remove('jobs', gone?.['id'] as number)
    const jobs = { ...state?.bookmarks['jobs'], settings: 'reset' }
    const run = await here({ config: tenant.config, catalog, state: { bookmarks: { jobs } } })
    const deleted = run.records('jobs').filter((row) => row['_sdc_deleted_at'] !== null)
    expect(deleted.map(({ id }) => id)).toEqual([gone?.['id']])
    expect(run.records('jobs')).toHaveLength((await tenant.truth('jobs')).length + 1)
  })
})

describe('other commands', () => {
  it('--test says on stderr what a check says, starts no delta and writes nothing to stdout', async () => {
    const before = tenant.emulator.requests.length
    const run = await here({ config: tenant.config, command: '--test' })
    const count = tenant.streams.length
    expect([run.exitCode, run.stdout, run.stderr]).toEqual([
      0,
      '',
      `INFO ${count} of ${count} streams can be read.\n`,
    ])
    const asked = tenant.emulator.requests.slice(before).map(({ query }) => query)
    expect(asked.filter((query) => /delta/i.test(query))).toEqual([])
  })

  it('--test fails with a wrong secret', async () => {
    const config = { ...tenant.config, client_secret: 'wrong-secret-77' }
    const { exitCode, stderr } = await here({ config, command: '--test' })
    expect([exitCode, stderr]).toEqual([1, expect.stringMatching(/^ERROR .*Check both/)])
  })

  it('--about prints the settings as JSON, with the secret marked', async () => {
    const { stdout } = await here({ command: '--about', words: ['--format', 'json'] })
    const about = JSON.parse(stdout)
    expect(about.settings.properties.client_secret).toMatchObject({ secret: true, writeOnly: true })
  })

  it('--version names the program', async () => {
    const { stdout } = await here({ command: '--version' })
    expect(stdout).toMatch(/^tap-protime v\d+\.\d+\.\d+\n$/)
  })

  it('an unknown option is refused on stderr', async () => {
    const { exitCode, stdout, stderr } = await here({ command: '--discovery' })
    expect([exitCode, stdout]).toEqual([1, ''])
    expect(stderr).toBe(
      "ERROR The command line is not valid: unknown option '--discovery' (Did you mean --discover?). Try --help. (config) [command-line-not-valid]\n",
    )
  })

  it('a catalog that selects nothing causes a warning', async () => {
    const { exitCode, stderr } = await here({ config: tenant.config, catalog: { streams: [] } })
    expect([exitCode, stderr]).toEqual([
      0,
      'WARNING The catalog selects nothing: no stream is read. [nothing-selected]\n',
    ])
  })

  it('an invalid catalog is refused', async () => {
    const { exitCode, stderr } = await here({ config: tenant.config, catalog: { stream: [] } })
    expect([exitCode, /not a catalog/.test(stderr)]).toEqual([1, true])
  })
})

describe('logs', () => {
  it('are empty after a sync without problems', async () => {
    expect((await here({ config: tenant.config, catalog: one })).stderr).toBe('')
  })

  it('are JSON with the fields of Meltano, and a METRIC, if Meltano names a file with the level', async () => {
    const { stderr } = await tap({
      config: tenant.config,
      catalog: one,
      environment: { SINGER_SDK_LOG_CONFIG: 'logging.json' },
      beside: { 'logging.json': { version: 1, root: { level: 'INFO' } } },
    })
    const lines = stderr
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    const metric = lines.find(({ metric_info }) => metric_info)
    expect(Object.keys(lines[0]).toSorted()).toEqual(
      'app_name level logger_name message pid stream_name thread_name ts'.split(' '),
    )
    expect(metric).toMatchObject({
      level: 'info',
      stream_name: 'job_categories',
      message: expect.stringMatching(/^METRIC: \{/),
      metric_info: { metric: 'record_count' },
    })
  })
})
