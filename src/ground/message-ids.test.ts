import { expect, it } from 'vitest'
import { createMask } from './mask.ts'
import { failureLine, messageLines } from './message-ids.ts'

const mask = createMask()
mask.add('s3cret')

it('each line of a long message ends with its id', () => {
  const message = 'word '.repeat(500).trim()
  const lines = messageLines({ id: 'x-long', message }, mask, '')
  expect(lines.length).toBeGreaterThan(2)
  expect(lines.filter((line) => !line.endsWith(' [x-long]'))).toEqual([])
})

it('a failure is one line without secrets and controls, with its id', () => {
  expect(failureLine({ id: 'x-bad', message: 'No s3cret\nhere.' }, mask, '')).toBe(
    'No **** here. [x-bad]',
  )
})

it('only a message after which a stream may be read anew says how its program does that', () => {
  const lines = (id: 'start-date-later' | 'starts-over') =>
    messageLines({ id, message: 'The date is later.' }, mask, 'run protime sync --rewrite')
  expect(lines('starts-over')).toEqual(['The date is later. [starts-over]'])
  expect(lines('start-date-later')).toEqual([
    'The date is later. To read the stream anew, without its earlier rows, run protime sync --rewrite. [start-date-later]',
  ])
})
