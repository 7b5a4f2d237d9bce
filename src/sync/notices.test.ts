import { beforeEach, describe, expect, it } from 'vitest'
import { withId } from '../ground/message-ids.ts'
import { createStreamWarnings, type StreamWarnings } from './notices.ts'

let lines: string[]
let warnings: StreamWarnings
beforeEach(() => {
  lines = []
  warnings = createStreamWarnings({
    warn: (message) => void lines.push(`WARN ${withId(message)}`),
    debug: (text) => void lines.push(`DEBUG ${text}`),
    info() {},
  })
})

const warn = (stream: string, text: string) =>
  warnings.of(stream).warn({ id: 'x-y', message: text })

describe('a warning', () => {
  it('is logged at once, with the stream', () => {
    warn('people', 'the link is old.')
    expect(lines).toEqual(['WARN people: the link is old. [x-y]'])
  })

  it('of many streams is logged for the first one, and for the others together at the end', () => {
    for (const stream of ['people', 'jobs', 'breaks']) warn(stream, 'the link is old.')
    warnings.logRest()
    expect(lines).toEqual([
      'WARN people: the link is old. [x-y]',
      'DEBUG jobs: the link is old.',
      'DEBUG breaks: the link is old.',
      'WARN breaks, jobs: the link is old. [x-y]',
    ])
  })

  it('of one stream is not logged again at the end', () => {
    warn('people', 'the link is old.')
    warn('jobs', 'the settings have changed.')
    warnings.logRest()
    expect(lines).toHaveLength(2)
  })
})
