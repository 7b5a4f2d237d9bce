import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { createMask } from '../../ground/mask.ts'
import type { SettingsSchema } from '../../ground/settings-schema.ts'
import { createSingerLog } from './log.ts'
import {
  mergeSettings,
  settingRows,
  settingsFromEnvironment,
  unknownVariables,
  withoutUnset,
} from './settings.ts'
import { type About, aboutText } from './singer-program.ts'
import { withoutTwins } from './tap.ts'
import { createVersions, type Versions } from './target.ts'

const about: About = {
  name: 'tap-x',
  version: '1.2.3',
  description: 'Reads x.',
  capabilities: ['catalog', 'state'],
  settings: {
    type: 'object',
    required: ['key'],
    properties: {
      key: { type: 'string', description: 'A | B', airbyte_secret: true },
      where: {
        oneOf: [
          {
            properties: {
              type: { const: 'near', description: 'Close.' },
              token: { airbyte_secret: true },
              api: { default: 'a' },
            },
          },
          {
            properties: {
              type: { const: 'far', description: 'Away.' },
              port: { default: 0 },
              api: { default: 'b' },
            },
          },
        ],
      },
    },
  },
}

describe('--about as JSON', () => {
  const told = JSON.parse(aboutText(about, 'json'))

  it('has the fields that the hub reads', () => {
    expect(Object.keys(told)).toEqual([
      'name',
      'description',
      'version',
      'capabilities',
      'settings',
    ])
  })

  it('marks secrets as Singer does, nested ones too, and in no other way', () => {
    const mark = { secret: true, writeOnly: true }
    expect(told.settings.properties.key).toMatchObject(mark)
    expect(told.settings.properties.where.oneOf[0].properties.token).toEqual(mark)
    expect(JSON.stringify(told)).not.toContain('airbyte_secret')
  })
})

describe('--about as Markdown', () => {
  it('is a table with one row per setting, whatever its text', () => {
    const rows = aboutText(about, 'markdown')
      .split('\n')
      .filter((line) => line.startsWith('| `'))
    expect(rows).toEqual([
      '| `key` | yes |  | A \\| B |',
      '| `where` | no |  |  |',
      '| `where.type` | no |  | `near`: Close. `far`: Away. |',
      '| `where.token` | no |  |  |',
      '| `where.api` | no | `near`: `"a"`; `far`: `"b"` |  |',
      '| `where.port` | no | `0` |  |',
    ])
  })
})

describe('the rows of settings', () => {
  it('have settings of several alternatives only once', () => {
    expect(settingRows(about.settings).map(({ path }) => path)).toEqual(
      'key where where.type where.token where.api where.port'.split(' '),
    )
  })
})

it('keeps the first of two names that differ only in case', () => {
  const { properties } = withoutTwins({
    type: 'object',
    properties: { isoCode: {}, ISOCode: {}, id: {} },
  })
  expect(Object.keys(properties ?? {})).toEqual(['isoCode', 'id'])
})

const record = (version?: number) => (versions: Versions) => versions.record('s', version)
const activate = (version: number) => (versions: Versions) => versions.activate('s', version)
const state = (value: object) => (versions: Versions) => versions.state(value)

it.each<[string, ((versions: Versions) => void)[], boolean]>([
  ['its records and then its version', [record(2), record(2), activate(2)], true],
  [
    'the state of another version first',
    [state({ bookmarks: { s: { v: 1 } } }), record(2), activate(2)],
    true,
  ],
  ['its version only behind its records', [record(1), record(2), activate(2)], true],
  ['its version before its records', [activate(2), record(2)], false],
  ['its version at both ends', [activate(2), record(2), activate(2)], true],
  ['its version without records', [activate(2)], false],
  ['records without a version', [record(), activate(2)], false],
  ['records without the end', [record(2)], false],
  ['another reading behind it', [record(2), activate(2), record(3)], false],
  [
    'the rest of a reading',
    [state({ bookmarks: { s: { at: { v: 2 } } } }), record(2), activate(2)],
    false,
  ],
  ['the rest, of a state without bookmarks', [state({ v: '2' }), record(2), activate(2)], false],
])('a stream that sends %s', (_what, steps, isComplete) => {
  const versions = createVersions()
  for (const step of steps) step(versions)
  expect(versions.isComplete('s')).toBe(isComplete)
})

const schema: SettingsSchema = {
  properties: {
    tenant: { type: 'string' },
    count: { type: 'integer' },
    list: { type: 'array' },
    where: {
      oneOf: [
        { properties: { type: { type: 'string' } } },
        { properties: { type: { type: 'string' }, url: { type: 'string' } } },
      ],
    },
  },
}

describe('settings from the environment', () => {
  it.each([
    ['a text', { TAP_X_TENANT: '007' }, { tenant: '007' }],
    ['a number', { TAP_X_COUNT: '4' }, { count: 4 }],
    ['a list', { TAP_X_LIST: '["a"]' }, { list: ['a'] }],
    ['what is no JSON, for the validation to refuse', { TAP_X_COUNT: 'four' }, { count: 'four' }],
    [
      'a nested text',
      { TAP_X_WHERE_TYPE: 'far', TAP_X_WHERE_URL: 'u' },
      { where: { type: 'far', url: 'u' } },
    ],
    ['an object', { TAP_X_WHERE: '{"type":"far"}' }, { where: { type: 'far' } }],
    [
      'an object, under its members',
      { TAP_X_WHERE: '{"type":"far","url":"u"}', TAP_X_WHERE_TYPE: 'near' },
      { where: { type: 'near', url: 'u' } },
    ],
    ['nothing of an empty variable', { TAP_X_TENANT: '' }, {}],
    ['nothing of others', { TENANT: 'a', TAP_X_OTHER: 'b', TAP_XTENANT: 'c' }, {}],
  ])('take %s', (_name, environment, settings) => {
    expect(settingsFromEnvironment(schema, 'TAP_X', environment)).toEqual(settings)
  })
})

describe('variables that are not settings', () => {
  it('are all with the prefix, except those of the log and of Meltano', () => {
    const known = [
      'TAP_X_TENANT',
      'TAP_X_WHERE',
      'TAP_X_WHERE_URL',
      'TAP_X_LOG_LEVEL',
      'TAP_X_LOG_FORMAT',
    ]
    const others = ['TAP_X__SELECT', 'TENANT', 'TAP_XTENANT']
    const names = [...known, ...others, 'TAP_X_TENNANT', 'TAP_X_WHERE_URI']
    const environment = Object.fromEntries(names.map((name) => [name, 'x']))
    expect(unknownVariables(schema, 'TAP_X', environment)).toEqual([
      'TAP_X_TENNANT',
      'TAP_X_WHERE_URI',
    ])
  })
})

describe('several configurations', () => {
  it('are merged member by member; arrays are replaced, and the last one wins', () => {
    const merged = mergeSettings([
      { a: 1, where: { type: 'near', url: 'u' }, list: [1, 2] },
      { a: 2, where: { type: 'far' }, list: [3] },
    ])
    expect(merged).toEqual({ a: 2, where: { type: 'far', url: 'u' }, list: [3] })
  })

  it('leave values that are not objects to the validation', () => {
    expect(mergeSettings([{ a: 1 }, 'text'])).toBe('text')
  })

  it('lose members that are null or empty, and keep false and 0', () => {
    const settings = { a: '', b: null, c: false, d: 0, e: [], where: { type: 'far', url: '' } }
    expect(withoutUnset(settings)).toEqual({ c: false, d: 0, e: [], where: { type: 'far' } })
  })
})

describe('the log', () => {
  const folders: string[] = []
  afterEach(() => {
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true })
  })

  /** A log and everything that it has written. */
  function logging(environment: Record<string, string> = {}, isColoured = false) {
    const mask = createMask()
    mask.add('hunter22')
    let text = ''
    const stderr = {
      isColoured,
      write(more: string) {
        text += more
      },
    }
    const log = createSingerLog({ name: 'tap-x', prefix: 'TAP_X', mask, environment, stderr })
    return { log, said: () => text }
  }

  const POINT = {
    type: 'counter',
    metric: 'record_count',
    value: 3,
    tags: { stream: 'people' },
  } as const

  function configured(config: object): Record<string, string> {
    const folder = mkdtempSync(join(tmpdir(), 'tap-'))
    folders.push(folder)
    const file = join(folder, 'logging.json')
    writeFileSync(file, JSON.stringify(config))
    return { SINGER_SDK_LOG_CONFIG: file }
  }

  describe('the log of a tap', () => {
    it('is single lines, without colours, whatever the texts contain', () => {
      const { log, said } = logging()
      log.warn({ id: 'x-y', message: 'field a\u001b[2Jb\nERROR forged\u202e is new' })
      log.warn({ id: 'x-y', message: 'x'.repeat(2000) })
      const [first, second] = said().split('\n')
      expect(first).toBe('WARNING field a [2Jb ERROR forged  is new [x-y]')
      expect(second).toBe(`WARNING ${'x'.repeat(999)}… [x-y]`)
    })

    it('writes warnings and errors as plain lines, and nothing else', () => {
      const { log, said } = logging()
      log.debug('a')
      log.info('b')
      log.metric(POINT)
      log.warn({ id: 'x-c', message: 'c' })
      log.error({ id: 'x-d', message: 'd' })
      expect(said()).toBe('WARNING c [x-c]\nERROR d [x-d]\n')
    })

    it.each([
      [{ TAP_X_LOG_LEVEL: 'info' }, true],
      [{ TAP_X_LOG_LEVEL: 'INFO' }, true],
      [{ LOG_LEVEL: 'info' }, true],
      [{ LOG_LEVEL: 'info', TAP_X_LOG_LEVEL: 'error' }, false],
    ])('under %j is told how much to say', (environment, isSaid) => {
      const { log, said } = logging(environment as Record<string, string>)
      log.info('b')
      expect(said() !== '').toBe(isSaid)
    })

    it('warns of an unknown level in its own variable, but not in those of others', () => {
      expect(logging({ TAP_X_LOG_LEVEL: 'loud' }).said()).toBe(
        'WARNING TAP_X_LOG_LEVEL must be one of debug, info, warning, error, critical; it is loud. [log-level-unknown]\n',
      )
      expect(logging({ LOG_LEVEL: 'loud', TAP_X_LOG_LEVEL: '' }).said()).toBe('')
    })

    it.each([
      [{ root: { level: 'INFO' } }, true],
      [{ root: { level: 'ERROR' } }, false],
      [{ level: 'DEBUG' }, true],
      [{ loggers: { singer: { level: 'info' } } }, true],
    ])('takes the level of a logging configuration %j', (config, isSaid) => {
      const { log, said } = logging(configured(config))
      log.info('b')
      expect(said() !== '').toBe(isSaid)
    })

    it('works without the logging configuration that a variable names', () => {
      const { log, said } = logging({ SINGER_SDK_LOG_CONFIG: '/nowhere/logging.json' })
      log.warn({ id: 'x-c', message: 'c' })
      expect(JSON.parse(said())).toMatchObject({ level: 'warning', message: 'c [x-c]' })
    })

    it('writes the fields that Meltano shows, and a metric in a field of its own', () => {
      const { log, said } = logging({ TAP_X_LOG_FORMAT: 'json', TAP_X_LOG_LEVEL: 'info' })
      log.metric(POINT)
      const { pid, ts, message, ...fields } = JSON.parse(said())
      expect([pid, Math.abs(ts * 1000 - Date.now()) < 60_000]).toEqual([process.pid, true])
      expect(JSON.parse(message.replace('METRIC: ', ''))).toEqual(POINT)
      expect(fields).toEqual({
        level: 'info',
        logger_name: 'tap-x',
        thread_name: 'main',
        app_name: 'tap-x',
        stream_name: 'people',
        metric_info: POINT,
      })
    })

    it.each([{}, { TAP_X_LOG_FORMAT: 'json' }])('masks secrets, under %j', (environment) => {
      const { log, said } = logging(environment as Record<string, string>)
      log.error({ id: 'x-y', message: 'the secret hunter22 was refused' })
      expect(said()).toContain('the secret **** was refused')
    })

    it('writes errors in red if the terminal has colours', () => {
      const { log, said } = logging({}, true)
      log.warn({ id: 'x-c', message: 'c' })
      log.error({ id: 'x-d', message: 'd' })
      expect(said()).toBe('WARNING c [x-c]\n\u001b[31mERROR d [x-d]\u001b[0m\n')
    })
  })
})
