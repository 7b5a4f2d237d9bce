import { describe, expect, it } from 'vitest'
import { createMask } from '../ground/mask.ts'
import { createCommandLog } from './command.ts'

function logged({ isDebug = false, isQuiet = false, isColoured = false } = {}) {
  let text = ''
  let now = Date.UTC(2026, 10, 22, 18, 20, 11, 999)
  const mask = createMask()
  mask.add('secret-of-acme')
  const write = (more: string) => {
    text += more
  }
  const switches = { isDebug: () => isDebug, isQuiet: () => isQuiet }
  const log = createCommandLog({ ...switches, screen: { isColoured, write }, mask, now: () => now })
  log.debug('a')
  log.info('b')
  now += 1
  log.warn('c secret-of-acme')
  log.error('d\u001b[2J\nINFO forged')
  return text.split('\n')
}

describe('the log of protime', () => {
  it('begins each line with its time in UTC, to the second', () => {
    expect(logged()).toEqual([
      '2026-11-22T18:20:11Z INFO b',
      '2026-11-22T18:20:12Z WARN c ****',
      '2026-11-22T18:20:12Z ERROR d [2J INFO forged',
      '',
    ])
  })

  it('has the requests where they are asked for', () => {
    expect(logged({ isDebug: true })[0]).toBe('2026-11-22T18:20:11Z DEBUG a')
  })

  it('is warnings and errors where it is to be quiet', () => {
    const levels = logged({ isQuiet: true }).map((line) => line.split(' ')[1])
    expect(levels).toEqual(['WARN', 'ERROR', undefined])
  })

  it('has errors in red on a terminal', () => {
    expect(logged({ isColoured: true })[2]).toMatch(/^[^ ]+Z .\[31mERROR d .*.\[0m$/)
  })
})
