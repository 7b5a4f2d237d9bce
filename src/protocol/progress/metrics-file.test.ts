import { describe, expect, it } from 'vitest'
import { ConnectorError } from '../../ground/errors.ts'
import { completionsIn, metricsText } from './metrics-file.ts'
import type { SyncProgress } from './sync-progress.ts'

const AT = new Date('2026-11-22T03:00:00Z')
const START = { kind: 'changes', how: 'incremental' } as const

function syncOf(tenant: string, status: 'complete' | 'failed' = 'complete'): SyncProgress {
  const counts = { records: 250, deletes: 1 }
  return {
    subject: `tenant ${tenant}`,
    labels: { tenant },
    streams: [{ name: 'people', status, start: START, isBegun: true, counts, seconds: 2 }],
    traffic: { requests: 34, retries: 3, refusals: 2, bytes: 1200, answerMs: 0 },
    retryCause: () => undefined,
    seconds: 24,
  }
}

function textOf(sync: SyncProgress | undefined, before = '', error?: ConnectorError) {
  return metricsText({
    sync,
    outcome: { failures: error === undefined ? [] : [{ error }] },
    completions: completionsIn(before, 'x_sync'),
    prefix: 'x_sync',
    program: 'tap-x',
    at: AT,
  })
}

/** The samples of a text, by the names of their metrics. */
function samples(text: string): string[] {
  return text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
}

describe('the metrics of a sync', () => {
  it('are gauges with the labels of the sync', () => {
    expect(samples(textOf(syncOf('acme')))).toEqual([
      'x_sync_success{program="tap-x",tenant="acme"} 1',
      'x_sync_finished_timestamp_seconds{program="tap-x",tenant="acme"} 1795316400',
      'x_sync_duration_seconds{program="tap-x",tenant="acme"} 24',
      'x_sync_failures{program="tap-x",tenant="acme",kind="config"} 0',
      'x_sync_failures{program="tap-x",tenant="acme",kind="transient"} 0',
      'x_sync_failures{program="tap-x",tenant="acme",kind="system"} 0',
      'x_sync_requests{program="tap-x",tenant="acme"} 34',
      'x_sync_retries{program="tap-x",tenant="acme"} 3',
      'x_sync_refusals{program="tap-x",tenant="acme"} 2',
      'x_sync_received_bytes{program="tap-x",tenant="acme"} 1200',
      'x_sync_stream_rows{program="tap-x",tenant="acme",stream="people"} 250',
      'x_sync_stream_deletes{program="tap-x",tenant="acme",stream="people"} 1',
      'x_sync_stream_duration_seconds{program="tap-x",tenant="acme",stream="people"} 2',
      'x_sync_stream_failed{program="tap-x",tenant="acme",stream="people"} 0',
      'x_sync_stream_last_complete_timestamp_seconds{program="tap-x",tenant="acme",stream="people"} 1795316400',
      'x_sync_stream_selected{program="tap-x",tenant="acme",stream="people"} 1',
    ])
    expect(textOf(syncOf('acme'))).toMatch(
      /^# HELP x_sync_requests .*\n# TYPE x_sync_requests gauge\n/m,
    )
  })

  it('of a sync that failed before it began say so', () => {
    const text = textOf(undefined, '', new ConnectorError('config', 'x-test', 'No.'))
    expect(samples(text)).toContain('x_sync_success{program="tap-x"} 0')
    expect(samples(text)).toContain('x_sync_failures{program="tap-x",kind="config"} 1')
  })

  it('escape what a label may not hold', () => {
    expect(textOf(syncOf('a"b\\c'))).toContain('tenant="a\\"b\\\\c"')
  })
})

describe('when a stream was complete last', () => {
  const last = (text: string) => samples(text).filter((line) => line.includes('last_complete'))
  const earlier = textOf(syncOf('acme')).replaceAll('1795316400', '1795230000')

  it('stays what it was when the stream fails, or the sync does not begin', () => {
    expect(last(textOf(syncOf('acme', 'failed'), earlier))).toEqual(last(earlier))
    expect(last(textOf(undefined, earlier))).toEqual(last(earlier))
  })

  it('is now when it is read to its end', () => {
    expect(last(textOf(syncOf('acme'), earlier))).toEqual(last(textOf(syncOf('acme'))))
  })

  it('is 0 while the stream was never read to its end, so that an alert can see it', () => {
    const never = textOf(syncOf('acme', 'failed'))
    expect(last(never)).toEqual([
      'x_sync_stream_last_complete_timestamp_seconds{program="tap-x",tenant="acme",stream="people"} 0',
    ])
    expect(last(textOf(syncOf('acme', 'failed'), never))).toEqual(last(never))
  })

  it('is kept for a stream that is no longer selected, with a mark', () => {
    const old = earlier.replaceAll('stream="people"', 'stream="jobs"')
    const text = textOf(syncOf('acme'), old)
    expect(last(text).length).toBe(2)
    const marks = samples(text).filter((line) => line.includes('_selected'))
    expect(marks.map((line) => line.replace(/.*stream=/, ''))).toEqual(['"people"} 1', '"jobs"} 0'])
  })

  it('is of no interest for another tenant', () => {
    const text = last(textOf(syncOf('globex', 'failed'), earlier)).join()
    expect([text.includes('globex'), text.includes('acme')]).toEqual([true, false])
  })
})
