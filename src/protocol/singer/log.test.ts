import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { createMask } from '../../ground/mask.ts'
import { createSingerLog } from './log.ts'

const folders: string[] = []
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true })
})

/** A log and everything that it has said. */
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
  it('is lines that whoever wrote a text cannot break or colour', () => {
    const { log, said } = logging()
    log.warn('field a\u001b[2Jb\nERROR forged\u202e is new')
    log.warn('x'.repeat(2000))
    const [first, second] = said().split('\n')
    expect(first).toBe('WARNING field a [2Jb ERROR forged  is new')
    expect(second).toBe(`WARNING ${'x'.repeat(999)}…`)
  })

  it('says warnings and errors as plain lines, and nothing else', () => {
    const { log, said } = logging()
    log.debug('a')
    log.info('b')
    log.metric(POINT)
    log.warn('c')
    log.error('d')
    expect(said()).toBe('WARNING c\nERROR d\n')
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

  it("warns of a level of its own that it does not know, and of nobody else's", () => {
    expect(logging({ TAP_X_LOG_LEVEL: 'loud' }).said()).toBe(
      'WARNING TAP_X_LOG_LEVEL must be one of debug, info, warning, error, critical; it is loud.\n',
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

  it('is not stopped by a logging configuration that is not there', () => {
    const { log, said } = logging({ SINGER_SDK_LOG_CONFIG: '/nowhere/logging.json' })
    log.warn('c')
    expect(JSON.parse(said())).toMatchObject({ level: 'warning', message: 'c' })
  })

  it('says the fields that Meltano shows, and a metric in its own', () => {
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
    log.error('the secret hunter22 was refused')
    expect(said()).toContain('the secret **** was refused')
  })

  it('says errors in red where there are colours', () => {
    const { log, said } = logging({}, true)
    log.warn('c')
    log.error('d')
    expect(said()).toBe('WARNING c\n\u001b[31mERROR d\u001b[0m\n')
  })
})
