import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Ajv } from 'ajv'
import addFormats from 'ajv-formats'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { protocolFaults } from '../../src/protocol/acceptance/airbyte-faults.ts'
import type { CatalogStream, Message } from '../../src/protocol/acceptance/messages.ts'
import { runAirbyte } from '../../src/protocol/airbyte/entrypoint.ts'
import { createConnector } from '../../src/source/source-connector.ts'
import { startTenant, type Tenant } from '../engines/tenant.ts'
import { configuredCatalog } from '../testing/files.ts'
import { createCollector } from '../testing/output.ts'
import { type AirbyteOptions, type AirbyteRun, parseLines, run } from '../testing/run.ts'

const SPEC: unknown = JSON.parse(readFileSync(new URL('../../spec.json', import.meta.url), 'utf8'))
const CONFIG = {
  tenant: 'demo',
  environment: {
    type: 'custom',
    // Nothing listens there: what is tested here must end before the first request.
    base_url: 'http://127.0.0.1:9',
    auth_url: 'http://127.0.0.1:9/tenants/demo',
  },
  client_id: 'connector',
  client_secret: 'a-very-secret-secret',
}
const CATALOG = configuredCatalog(['job_categories'])

interface Answer {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
  readonly messages: readonly Message[]
}

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'cli-'))
  file('config', CONFIG)
  file('catalog', CATALOG)
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

/** Writes a file into the folder: text as it is, anything else as JSON. */
function file(name: string, content: unknown): string {
  const path = join(folder, name)
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
  return path
}

/** The words of a command line; those that begin with `@` name files of the folder. */
function wordsOf(args: readonly string[]): string[] {
  return args.map((arg) => (arg.startsWith('@') ? join(folder, arg.slice(1)) : arg))
}

/** Runs the program in this process, whatever its command line. */
async function execute(...args: readonly string[]): Promise<Answer> {
  const [out, err] = [createCollector(), createCollector()]
  const io = { stdout: out, stderr: err, env: {} }
  const exitCode = await runAirbyte(wordsOf(args), createConnector(), io)
  const [stdout, stderr] = [out.text(), err.text()]
  const messages = stdout.startsWith('{') ? parseLines(stdout) : []
  return { exitCode, stdout, stderr, messages }
}

/** Runs a read in this process, and checks the rules of the protocol. */
async function readHere(...args: readonly string[]): Promise<Answer> {
  const words = wordsOf(args)
  const read = { program: 'source-protime', command: 'read', in: 'process', words } as const
  const { exitCode, ...recording } = await run(read)
  return { ...recording, exitCode: exitCode ?? -1 }
}

/** The only thing that was said is this error, and it names nothing of the configuration. */
function expectConfigError(answer: Answer, words: RegExp): void {
  expect(answer.messages.map(protocolFaults).filter(Boolean)).toEqual([])
  const errors = answer.messages.flatMap(({ trace }) => trace?.error ?? [])
  expect(errors).toMatchObject([
    { failure_type: 'config_error', message: expect.stringMatching(words) },
  ])
  expect(answer.exitCode).toBe(1)
  expect(answer.stderr).toBe('')
  expect(answer.stdout).not.toContain(CONFIG.client_secret)
  expect(answer.messages.filter(({ type }) => type === 'RECORD' || type === 'STATE')).toEqual([])
}

describe('spec', () => {
  it('answers with spec.json and nothing else', async () => {
    const { messages, exitCode, stderr } = await execute('spec')
    expect(messages).toEqual([{ type: 'SPEC', spec: SPEC }])
    expect([exitCode, stderr]).toEqual([0, ''])
  })

  it('answers the same with --debug', async () => {
    expect((await execute('spec', '--debug')).messages).toHaveLength(1)
  })
})

describe('a command line that is not valid', () => {
  it.each([
    ['an unknown command', ['write'], /unknown command 'write'/],
    [
      'an unknown option',
      ['read', '--config', '@config', '--catalog', '@catalog', '--bogus'],
      /unknown option '--bogus'/,
    ],
    [
      'a mistyped option',
      ['check', '--confg', '@config'],
      /unknown option '--confg' \(Did you mean --config\?\)/,
    ],
    ['a check without its configuration', ['check'], /--config is missing/],
    ['a discover without its configuration', ['discover'], /--config is missing/],
    ['a read without its configuration', ['read', '--catalog', '@catalog'], /--config is missing/],
    ['a read without its catalog', ['read', '--config', '@config'], /--catalog is missing/],
    ['an option without its value', ['check', '--config'], /argument missing/],
    ['a word too many', ['spec', 'please'], /too many arguments/],
    [
      'a state without a path',
      ['read', '--config', '@config', '--catalog', '@catalog', '--state', ''],
      /--state is empty/,
    ],
  ])('is one message, a config error: %s', async (_name, args, words) => {
    const answer = await execute(...args)
    expectConfigError(answer, new RegExp(`^The command line is not valid: .*${words.source}`))
    expect(answer.messages).toHaveLength(1)
  })

  it('has no command: the usage is on stderr, and the exit code 2', async () => {
    const { exitCode, stdout, stderr } = await execute()
    expect([exitCode, stdout]).toEqual([2, ''])
    expect(stderr).toMatch(/^Usage: source-protime .*discover/s)
  })

  it('does not include --version and --help', async () => {
    const [version, help] = await Promise.all([execute('--version'), execute('--help')])
    expect([version.exitCode, help.exitCode]).toEqual([0, 0])
    expect(version.stdout).toMatch(/^\d+\.\d+\.\d+/)
    expect(help.stdout).toMatch(/discover/)
  })

  it('does not include the help of a command, which explains --debug', async () => {
    const { exitCode, stdout } = await execute('check', '--help')
    expect([exitCode, /--debug +log every request/.test(stdout)]).toEqual([0, true])
  })
})

describe('a file with content that does not fit its option', () => {
  const catalogOf = (stream: unknown) => JSON.stringify({ streams: [stream] })
  const stream = { name: 'people', json_schema: {} }
  it.each([
    [
      'catalog',
      undefined,
      /--catalog cannot be read \(ENOENT\): .*catalog\. \[file-not-readable\]$/,
    ],
    ['catalog', '', /--catalog is not JSON \(.*catalog, it is empty\)/],
    ['catalog', '{\n"streams":[', /--catalog is not JSON \(.*catalog, line 2, column 12\)/],
    ['catalog', '{"type":"LOG"}\n{"type"}', /\(.*catalog, line 2, column 8\)/],
    ['catalog', '{"type":"CATALOG"}', /it has no list of streams/],
    ['catalog', 'null', /it has no list of streams/],
    ['catalog', '[]', /it has no list of streams/],
    ['catalog', '{"streams":{}}', /it has no list of streams/],
    ['catalog', catalogOf(null), /one of its streams has no name/],
    ['catalog', catalogOf('people'), /one of its streams has no name/],
    ['catalog', catalogOf({ stream: { name: 7 }, sync_mode: 'incremental' }), /has no name/],
    ['catalog', catalogOf({ stream }), /its stream people has no sync mode/],
    [
      'catalog',
      JSON.stringify(configuredCatalog(['people', 'jobs', 'people'])),
      /it names people twice/,
    ],
    ['config', undefined, /--config cannot be read \(ENOENT\)/],
    [
      'config',
      '{"client_secret":"a-very-secret-secret"',
      /--config is not JSON \(.*config, line 1, column 40\)/,
    ],
    ['config', '[]', /The configuration is not valid/],
    ['config', 'null', /The configuration is not valid/],
    ['config', '{}', /tenant is missing.*client_secret is missing/],
    ['state', undefined, /--state cannot be read \(ENOENT\)/],
    ['state', '{"type":"STREAM"', /--state is damaged: it is not JSON at line 1, column 17/],
    ['state', '{"type":"STATE","state":{}}\n{"type', /it is not JSON at line 2, column 2/],
    ['state', '{"bookmarks":{"people":{}}}', /is a state of tap-protime/],
    ['state', '{"type":"STATE","value":{"bookmarks":{}}}', /is a state of tap-protime/],
    ['state', '7', /--state is damaged: it is not a list/],
    ['state', '"x"', /--state is damaged: it is not a list/],
    ['state', '[7]', /one of its entries is not a state message/],
    ['state', '[null]', /one of its entries is not a state message/],
    ['state', '[{"type":"STREAM"}]', /one of its entries is not a state message/],
    ['state', '[{"type":"STREAM","stream":{}}]', /one of its entries names no stream/],
    ['state', '[{"type":"STREAM","stream":null}]', /one of its entries names no stream/],
    ['state', '[{"type":"GLOBAL"}]', /its global state has no streams/],
    [
      'state',
      '[{"type":"GLOBAL","global":{"stream_states":7}}]',
      /its global state has no streams/,
    ],
  ])('--%s of %j is a config error of a read', async (name, content, words) => {
    file('state', '[]')
    if (content === undefined) rmSync(join(folder, name))
    else file(name, content)
    const args = ['--config', '@config', '--catalog', '@catalog', '--state', '@state']
    expectConfigError(await readHere(...args), words)
  })

  it('is a folder', async () => {
    expectConfigError(
      await readHere('--config', '@', '--catalog', '@catalog'),
      /--config cannot be read \(EISDIR\)/,
    )
  })
})

describe('a configuration that is not valid', () => {
  const wrong = { ...CONFIG, tenant: 'not a tenant!', concurrency: 0 }

  it('fails a check with exit code 0, and says why without quoting its values', async () => {
    file('config', wrong)
    const { messages, exitCode, stdout } = await execute('check', '--config', '@config')
    expect(messages).toMatchObject([
      {
        type: 'CONNECTION_STATUS',
        connectionStatus: {
          status: 'FAILED',
          message: expect.stringMatching(/tenant must have the form.*concurrency/s),
        },
      },
    ])
    expect(exitCode).toBe(0)
    expect(stdout).not.toMatch(/not a tenant!|a-very-secret/)
  })

  it.each([undefined, '', '{'])('of %j fails a check with exit code 0', async (content) => {
    if (content === undefined) rmSync(join(folder, 'config'))
    else file('config', content)
    const { messages, exitCode } = await execute('check', '--config', '@config')
    expect(messages.map(({ connectionStatus }) => connectionStatus?.status)).toEqual(['FAILED'])
    expect(exitCode).toBe(0)
  })

  it('is an error for discover', async () => {
    file('config', wrong)
    expectConfigError(await execute('discover', '--config', '@config'), /tenant must have the form/)
  })
})

describe('a configuration with settings that do not exist', () => {
  const mistyped = {
    ...CONFIG,
    start_dat: '2026-01-01',
    environment: { ...CONFIG.environment, bas_url: 'x' },
  }

  it('causes a warning of every command, which continues', async () => {
    file('config', mistyped)
    const { messages, exitCode } = await execute('discover', '--config', '@config')
    expect(messages.flatMap(({ log }) => (log === undefined ? [] : [log]))).toEqual([
      {
        level: 'WARN',
        message:
          'environment.bas_url is not a setting; did you mean environment.base_url? [unknown-setting]',
      },
      {
        level: 'WARN',
        message: 'start_dat is not a setting; did you mean start_date? [unknown-setting]',
      },
    ])
    expect([exitCode, messages.at(-1)?.type]).toEqual([0, 'CATALOG'])
  })

  it('causes a warning even if another one is missing because of it', async () => {
    const { client_secret, ...rest } = CONFIG
    file('config', { ...rest, client_secert: client_secret })
    const { messages, stdout } = await execute('check', '--config', '@config')
    expect(messages).toMatchObject([
      {
        log: {
          message: 'client_secert is not a setting; did you mean client_secret? [unknown-setting]',
        },
      },
      {
        connectionStatus: {
          status: 'FAILED',
          message:
            'The configuration is not valid. client_secret is missing. [configuration-not-valid]',
        },
      },
    ])
    expect(stdout).not.toContain(client_secret)
  })
})

describe('a file with a byte order mark', () => {
  it.each(['utf8', 'utf16le'] as const)('in %s is read', async (encoding) => {
    writeFileSync(join(folder, 'config'), Buffer.from(`\ufeff${JSON.stringify(CONFIG)}`, encoding))
    const { exitCode } = await execute('discover', '--config', '@config')
    expect(exitCode).toBe(0)
  })
})

describe('a catalog that selects nothing', () => {
  it('is refused: a sync that reads nothing is not a success', async () => {
    file('catalog', { streams: [] })
    const { messages, exitCode } = await execute(
      ...['read', '--config', '@config', '--catalog', '@catalog'],
    )
    const message = expect.stringContaining('selects no stream')
    expect(exitCode).toBe(1)
    expect(messages).toMatchObject([
      { type: 'TRACE', trace: { error: { failure_type: 'config_error', message } } },
    ])
  })
})

const CHANGES = { inserts: 40, updates: 40, deletes: 40, softDeletes: 3 }
/** A number that JavaScript could not tell from an integer. */
const FRACTION_OF_NOTHING = /[:[,]-?\d+\.0+[,}\]]/

let tenant: Tenant
let catalog: readonly CatalogStream[]
const reads: Record<string, AirbyteRun> = {}

beforeAll(async () => {
  tenant = await startTenant()
  const { config, emulator } = tenant
  const streams = [...tenant.streams, 'inventory']
  const here = (command: AirbyteOptions['command'], files: Partial<AirbyteOptions> = {}) =>
    run({ program: 'source-protime', command, in: 'process', config, ...files })
  const { messages } = await here('discover')
  catalog = messages.flatMap((message) => message.catalog?.streams ?? [])
  const refresh = streams.map((name) => ({ name, sync_mode: 'full_refresh' }))
  const first = await here('read', { catalog: streams, state: [] })
  emulator.randomChanges(CHANGES)
  const next = await here('read', { catalog: streams, state: first.state })
  const full = await here('read', { catalog: refresh })
  Object.assign(reads, { 'a first read': first, 'a read of changes': next, 'a full refresh': full })
})
afterAll(() => tenant.emulator.close())

/** The schema by which Airbyte's acceptance tests look at a record, and which columns it names. */
function validatorOf({ json_schema: schema }: CatalogStream) {
  const ajv = new Ajv({ strict: false, allErrors: true })
  addFormats.default(ajv)
  const validate = ajv.compile(schema)
  return (data: Readonly<Record<string, unknown>>): string[] => {
    const unknown = Object.keys(data).filter((column) => !(column in schema.properties))
    return [
      ...(validate(data) ? [] : [ajv.errorsText(validate.errors)]),
      ...unknown.map((column) => `has the column ${column}, which its schema lacks`),
    ]
  }
}

describe('the catalog that discover shows', () => {
  it('has each stream once, with its modes and their requirements', () => {
    expect(catalog.map(({ name }) => name)).toEqual([...tenant.streams, 'inventory'])
    const incomplete = catalog.filter(
      ({ supported_sync_modes: modes, source_defined_cursor: isDefined }) =>
        JSON.stringify(modes) !== '["full_refresh","incremental"]' || isDefined !== true,
    )
    expect(incomplete).toEqual([])
  })

  it('has keys and cursors that are columns, and keys that are neither arrays nor objects', () => {
    const wrong = catalog.filter((stream) => {
      const { source_defined_primary_key: key, default_cursor_field: cursor } = stream
      const { properties } = stream.json_schema
      const types = key.flatMap(([name = '']) => (properties[name] as { type?: unknown })?.type)
      const isScalar = types.every((type) => type === 'integer' || type === 'string')
      return key.length === 0 || !isScalar || cursor.some((name) => !(name in properties))
    })
    expect(wrong.map(({ name }) => name)).toEqual([])
  })
})

describe('the records', () => {
  it.each(['a first read', 'a read of changes', 'a full refresh'])(
    'of %s fit the schemas that discover shows, and have no other column',
    (name) => {
      const recording = reads[name]
      const faults = new Set<string>()
      for (const stream of catalog) {
        const validate = validatorOf(stream)
        const records = recording?.records(stream.name) ?? []
        for (const data of records)
          for (const fault of validate(data)) faults.add(`${stream.name} ${fault}`)
      }
      expect([...faults]).toEqual([])
      expect(recording?.stdout).not.toMatch(FRACTION_OF_NOTHING)
    },
  )

  it('of a first read exist for every stream', () => {
    const empty = catalog.filter(({ name }) => reads['a first read']?.records(name).length === 0)
    expect(empty.map(({ name }) => name)).toEqual([])
  })
})
