import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTenant, type Tenant } from './engines/tenant.ts'
import { breadcrumbsOf, type Catalog, selecting } from './singer/catalog.ts'
import { runTap, sync } from './singer/run-tap.ts'

let tenant: Tenant
beforeAll(async () => {
  tenant = await startTenant()
})
afterAll(() => tenant.emulator.close())

const one = selecting(['job_categories'])

describe('--discover', () => {
  it('lists every stream with metadata for every property, however deep', async () => {
    const { stdout, exitCode } = await runTap({ config: tenant.config }, { words: ['--discover'] })
    const { streams } = JSON.parse(stdout) as Catalog
    expect([exitCode, streams.map(({ stream }) => stream)]).toEqual([0, tenant.streams])
    for (const { schema, metadata } of streams) {
      const marked = metadata.map(({ breadcrumb }) => breadcrumb.join('.')).toSorted()
      const all = ['', ...breadcrumbsOf(schema).map((breadcrumb) => breadcrumb.join('.'))]
      expect(marked).toEqual(all.toSorted())
    }
  })

  it('asks nobody', async () => {
    const before = tenant.emulator.requests.length
    await runTap({ config: tenant.config }, { words: ['--discover'] })
    expect(tenant.emulator.requests.length).toBe(before)
  })

  it('needs no configuration', async () => {
    const { stdout, exitCode } = await runTap({}, { words: ['--discover'] })
    expect([exitCode, (JSON.parse(stdout) as Catalog).streams.length > 30]).toEqual([0, true])
  })
})

describe('the configuration', () => {
  it('is put together from files, later ones over earlier ones', async () => {
    const config = { ...tenant.config, client_secret: 'wrong-secret' }
    const beside = { 'secret.json': { client_secret: 'emulator-secret' } }
    const words = ['--config', 'secret.json']
    expect((await sync({ config, catalog: one }, { words, beside })).exitCode).toBe(0)
  })

  it('takes variables over files, wherever ENV stands', async () => {
    const environment = { TAP_PROTIME_CLIENT_SECRET: 'emulator-secret' }
    const config = { ...tenant.config, client_secret: 'wrong-secret' }
    const words = ['--config', 'ENV', '--config', 'config.json']
    expect((await sync({ config, catalog: one }, { words, environment })).exitCode).toBe(0)
  })

  it('reads variables only when asked to by ENV', async () => {
    const environment = { TAP_PROTIME_CLIENT_SECRET: 'wrong-secret' }
    const run = await sync({ config: tenant.config, catalog: one }, { environment })
    expect(run.exitCode).toBe(0)
  })

  it('is missed in a sentence', async () => {
    const { exitCode, stdout, stderr } = await runTap()
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
      const { exitCode, stdout, stderr } = await sync({ config }, { environment })
      expect(exitCode).toBe(1)
      expect(stderr).toMatch(/client_secret|client secret|credentials/i)
      expect(stdout + stderr).not.toContain('wrong-secret-77')
    },
  )
})

describe('--state', () => {
  it.each([
    ['{"bookmarks":', 'it is not JSON'],
    ['[]', 'it is not an object'],
    ['{"bookmarks":[]}', 'its bookmarks are not an object'],
  ])('that is damaged (%s) is refused without a request', async (state, reason) => {
    const before = tenant.emulator.requests.length
    const { exitCode, stdout, stderr } = await runTap({ config: tenant.config, state })
    expect([exitCode, stdout]).toEqual([1, ''])
    expect(stderr).toContain(reason)
    expect(tenant.emulator.requests.length).toBe(before)
  })

  it('is repeated by the first line, streams that are not read included', async () => {
    const first = await sync({ config: tenant.config, catalog: selecting(['jobs', 'sectors']) })
    const again = await sync({ config: tenant.config, catalog: one, state: first.state })
    expect(again.messages[0]).toEqual({ type: 'STATE', value: first.state })
    expect(again.state?.bookmarks['jobs']).toEqual(first.state?.bookmarks['jobs'])
  })

  it('with one bookmark that cannot be used reads that stream anew and says so', async () => {
    const state = { bookmarks: { job_categories: { bookmark_version: 99 } } }
    const run = await sync({ config: tenant.config, catalog: one, state })
    expect(run.stderr).toMatch(/WARNING job_categories: the stored state cannot be used/)
    expect(run.records('job_categories')).toHaveLength(
      (await tenant.truth('job_categories')).length,
    )
  })
})

describe('a reset of one stream', () => {
  it('by other settings in its bookmark reads it anew and still deletes what is gone', async () => {
    const catalog = selecting(['jobs'])
    const { state } = await sync({ config: tenant.config, catalog })
    const [gone] = await tenant.truth('jobs')
    tenant.emulator.remove('jobs', gone?.['id'] as number)
    const jobs = { ...state?.bookmarks['jobs'], settings: 'reset' }
    const run = await sync({ config: tenant.config, catalog, state: { bookmarks: { jobs } } })
    const deleted = run.records('jobs').filter((row) => row['_sdc_deleted_at'] !== null)
    expect(deleted.map(({ id }) => id)).toEqual([gone?.['id']])
    expect(run.records('jobs')).toHaveLength((await tenant.truth('jobs')).length + 1)
  })
})

describe('other commands', () => {
  it('--test asks for one page, starts no delta and writes nothing to stdout', async () => {
    const before = tenant.emulator.requests.length
    const { exitCode, stdout } = await runTap({ config: tenant.config }, { words: ['--test'] })
    expect([exitCode, stdout]).toEqual([0, ''])
    const asked = tenant.emulator.requests.slice(before).map(({ path }) => path)
    expect([asked.length, asked.some((path) => path.startsWith('/delta/'))]).toEqual([2, false])
  })

  it('--test fails with a wrong secret', async () => {
    const config = { ...tenant.config, client_secret: 'wrong-secret-77' }
    expect((await runTap({ config }, { words: ['--test'] })).exitCode).toBe(1)
  })

  it('--about tells the settings as JSON, with the secret marked', async () => {
    const { stdout } = await runTap({}, { words: ['--about', '--format', 'json'] })
    const about = JSON.parse(stdout)
    expect(about.settings.properties.client_secret).toMatchObject({ secret: true, writeOnly: true })
  })

  it('--version names the program', async () => {
    const { stdout } = await runTap({}, { words: ['--version'] })
    expect(stdout).toMatch(/^tap-protime v\d+\.\d+\.\d+\n$/)
  })

  it('an unknown option is refused on stderr', async () => {
    const { exitCode, stdout, stderr } = await runTap({}, { words: ['--discovery'] })
    expect([exitCode, stdout]).toEqual([1, ''])
    expect(stderr).toContain('--discovery')
  })

  it('a catalog that is none is refused', async () => {
    const { exitCode, stderr } = await runTap({ config: tenant.config, catalog: { stream: [] } })
    expect([exitCode, /not a catalog/.test(stderr)]).toEqual([1, true])
  })
})

describe('logs', () => {
  it('are empty after a sync without trouble', async () => {
    expect((await sync({ config: tenant.config, catalog: one })).stderr).toBe('')
  })

  it('are JSON in the fields of Meltano, with a METRIC, when it names a file with the level', async () => {
    const { stderr } = await sync(
      { config: tenant.config, catalog: one },
      {
        environment: { SINGER_SDK_LOG_CONFIG: 'logging.json' },
        beside: { 'logging.json': { version: 1, root: { level: 'INFO' } } },
      },
    )
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
