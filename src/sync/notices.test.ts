import { beforeEach, describe, expect, it } from 'vitest'
import { ConnectorError } from '../ground/errors.ts'
import { createStreamWarnings, type StreamWarnings } from './notices.ts'
import { summary } from './run.ts'
import type { StreamTask } from './stream-task.ts'

let lines: string[]
let warnings: StreamWarnings
beforeEach(() => {
  lines = []
  warnings = createStreamWarnings({
    warn: (text) => void lines.push(`WARN ${text}`),
    debug: (text) => void lines.push(`DEBUG ${text}`),
    info() {},
  })
})

const warn = (stream: string, text: string) => warnings.of(stream).warn(text)

describe('a warning', () => {
  it('is logged at once, with the stream', () => {
    warn('people', 'the link is old.')
    expect(lines).toEqual(['WARN people: the link is old.'])
  })

  it('of many streams is logged for the first one, and for the others together at the end', () => {
    for (const stream of ['people', 'jobs', 'breaks']) warn(stream, 'the link is old.')
    warnings.logRest()
    expect(lines).toEqual([
      'WARN people: the link is old.',
      'DEBUG jobs: the link is old.',
      'DEBUG breaks: the link is old.',
      'WARN breaks, jobs: the link is old.',
    ])
  })

  it('of one stream is not logged again at the end', () => {
    warn('people', 'the link is old.')
    warn('jobs', 'the settings have changed.')
    warnings.logRest()
    expect(lines).toHaveLength(2)
  })
})

describe('the summary of a sync', () => {
  /** Tasks that have emitted these numbers of records and deletes. */
  function tasks(
    counts: Readonly<Record<string, readonly [records: number, deletes: number]>>,
    isTracked = true,
  ) {
    return Object.entries(counts).map(
      ([stream, [records, deletes]]) =>
        ({
          stream: { stream },
          output: { counts: { records, deletes, isTracked } },
        }) as unknown as StreamTask,
    )
  }

  const traffic = { requests: 9, retries: 2, refusals: 1, bytes: 1_240_000, answerMs: 0 }
  const quiet = { requests: 1, retries: 0, refusals: 0, bytes: 300, answerMs: 0 }
  const error = new ConnectorError('config', 'x-test', 'No.')

  it('has totals of the rows, and of the requests and the time', () => {
    expect(summary(tasks({ people: [25, 1], jobs: [7, 0] }), [], traffic, 4.51)).toBe(
      'Sync finished: 2 streams, 32 records and 1 delete (people 25 records and 1 delete, jobs 7 records); 9 requests, 2 retries, 1 refusal, 1.2 MB, 4.5 s.',
    )
  })

  it('names the streams whose ids the state cannot hold', () => {
    expect(summary(tasks({ people: [1, 0] }, false), [], quiet, 0.2)).toMatch(
      /\. Rows that vanish are not deleted, because the state cannot hold the ids: people\.$/,
    )
  })

  it('leaves zeros out', () => {
    expect(summary(tasks({ people: [0, 2], jobs: [0, 0] }), [], quiet, 0.2)).toBe(
      'Sync finished: 2 streams, 2 deletes (people 2 deletes); 1 request, 0.2 s.',
    )
    expect(summary(tasks({ people: [0, 0] }), [], quiet, 0.2)).toBe(
      'Sync finished: 1 stream, no records; 1 request, 0.2 s.',
    )
  })

  it('names failed streams, including those that were never requested', () => {
    const failures = [
      { stream: 'people', error },
      { stream: 'unknown', error },
    ]
    expect(summary(tasks({ people: [25, 0], jobs: [7, 0] }), failures, quiet, 1)).toBe(
      'Sync failed for 2 of 3 streams: people, unknown. Written: 32 records (people 25 records, jobs 7 records); 1 request, 1.0 s.',
    )
  })

  it('names every stream if the failure concerns all', () => {
    expect(summary(tasks({ people: [0, 0], jobs: [0, 0] }), [{ error }], quiet, 1)).toBe(
      'Sync failed for all 2 streams. Written: no records; 1 request, 1.0 s.',
    )
  })
})
