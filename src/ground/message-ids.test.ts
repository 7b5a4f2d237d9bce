import { expect, it } from 'vitest'
import type { Log } from '../protocol/connector.ts'
import { createMask } from './mask.ts'
import { failureLine, messageLines } from './message-ids.ts'

const mask = createMask()
mask.add('s3cret')

const REMEDIES = {
  readAnew: 'begin again',
  leaveOut: 'leave it out',
  listStreams: 'ask',
  approve: 'approve it',
}

it('no log takes a warning without an id', () => {
  // @ts-expect-error a text has no id
  const warned = (log: Log) => log.warn('Something happened.')
  expect(warned).toBeTypeOf('function')
})

it('each line of a long message ends with its id', () => {
  const message = 'word '.repeat(500).trim()
  const lines = messageLines({ id: 'x-long', message }, mask, REMEDIES)
  expect(lines.length).toBeGreaterThan(2)
  expect(lines.filter((line) => !line.endsWith(' [x-long]'))).toEqual([])
})

it('a failure is one line without secrets and controls, with its id', () => {
  expect(failureLine({ id: 'x-bad', message: 'No s3cret\nhere.' }, mask, REMEDIES)).toBe(
    'No **** here. [x-bad]',
  )
})

it('a failure that is too long is cut before its id', () => {
  const message = { id: 'x-long', message: 'word '.repeat(50) } as const
  const line = failureLine(message, mask, REMEDIES, { type: 'config', most: 100 })
  expect([line.length, line.endsWith(' (config) [x-long]')]).toEqual([100, true])
})

it('a message that suggests something ends with how the program does that', () => {
  const lines = (id: 'sync-mode-changed' | 'starts-over') =>
    messageLines({ id, message: 'The mode has changed.' }, mask, REMEDIES)
  expect(lines('starts-over')).toEqual(['The mode has changed. [starts-over]'])
  expect(lines('sync-mode-changed')).toEqual([
    'The mode has changed. To read the stream again, without its earlier rows, begin again. [sync-mode-changed]',
  ])
})
