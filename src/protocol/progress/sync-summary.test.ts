import { describe, expect, it } from 'vitest'
import { ConnectorError } from '../../ground/errors.ts'
import { summary } from './sync-summary.ts'

describe('the summary of a sync', () => {
  /** Streams of which these numbers of records and deletes were written. */
  function streams(
    counts: Readonly<Record<string, readonly [records: number, deletes: number]>>,
    isTracked = true,
  ) {
    return Object.entries(counts).map(([name, [records, deletes]]) => ({
      name,
      counts: { records, deletes, isTracked },
    }))
  }

  const traffic = { requests: 9, retries: 2, throttled: 1, bytes: 1_240_000, responseMs: 0 }
  const quiet = { requests: 1, retries: 0, throttled: 0, bytes: 300, responseMs: 0 }
  const error = new ConnectorError('config', 'x-test', 'No.')

  it('has totals of the rows, and of the requests and the time', () => {
    expect(summary(streams({ people: [25, 1], jobs: [7, 0] }), [], traffic, 4.51)).toBe(
      'Sync finished: 2 streams, 32 records and 1 delete (people 25 records and 1 delete, jobs 7 records); 9 requests, 2 retries, 1 throttled, 1.2 MB, 4.5 s.',
    )
  })

  it('names the streams whose ids the state cannot hold', () => {
    expect(summary(streams({ people: [1, 0] }, false), [], quiet, 0.2)).toMatch(
      /\. Rows that vanish are not deleted, because the state cannot hold the ids: people\.$/,
    )
  })

  it('leaves zeros out', () => {
    expect(summary(streams({ people: [0, 2], jobs: [0, 0] }), [], quiet, 0.2)).toBe(
      'Sync finished: 2 streams, 2 deletes (people 2 deletes); 1 request, 0.2 s.',
    )
    expect(summary(streams({ people: [0, 0] }), [], quiet, 0.2)).toBe(
      'Sync finished: 1 stream, no records; 1 request, 0.2 s.',
    )
  })

  it('names failed streams, including those that were never requested', () => {
    const failures = [
      { stream: 'people', error },
      { stream: 'unknown', error },
    ]
    expect(summary(streams({ people: [25, 0], jobs: [7, 0] }), failures, quiet, 1)).toBe(
      'Sync failed for 2 of 3 streams: people, unknown. Written: 32 records (people 25 records, jobs 7 records); 1 request, 1.0 s.',
    )
  })

  it('names every stream if the failure concerns all', () => {
    expect(summary(streams({ people: [0, 0], jobs: [0, 0] }), [{ error }], quiet, 1)).toBe(
      'Sync failed for all 2 streams. Written: no records; 1 request, 1.0 s.',
    )
  })
})
