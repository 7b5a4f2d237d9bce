import { describe, expect, it } from 'vitest'
import { ConnectorError } from '../../ground/errors.ts'
import { createMask } from '../../ground/mask.ts'
import type { StreamStart } from '../connector.ts'
import { createLogLines } from './log-lines.ts'
import { completionsIn, metricsText } from './metrics-file.ts'
import { createScreen } from './screen.ts'
import { createSyncProgress, type SyncOutcome, type SyncProgress } from './sync-progress.ts'
import { createTerminal } from './terminal.ts'
import { createFakeClock, createFakeTerminal } from './testing/fake-terminal.ts'

const FIRST: StreamStart = {
  kind: 'begins',
  how: 'from the beginning: first sync',
  expected: undefined,
}
const STREAMS: Readonly<Record<string, StreamStart>> = {
  people: { kind: 'changes', how: 'incremental' },
  clockings: { kind: 'begins', how: 'from the beginning: expired link', expected: 50_000 },
  job_categories: { kind: 'whole', how: 'whole list', expected: 40 },
}

/** A sync on a terminal that a test controls. */
function started(columns: number, { starts = STREAMS, env = {}, rows = 24 } = {}) {
  const clock = createFakeClock()
  const terminal = createFakeTerminal(columns, rows)
  const mask = createMask()
  mask.add('hunter22')
  const screen = createScreen(terminal.stderr, env, mask)
  const listener = createTerminal({ screen, clock, kept: 'All is kept.', tellsFailures: true })
  const { observer, finish } = createSyncProgress([listener], clock)
  const counts = Object.fromEntries(
    Object.keys(starts).map((name) => [name, { records: 0, deletes: 0 }]),
  )
  let retryCause: string | undefined
  const facts = {
    subject: 'tenant acme',
    labels: {},
    traffic: { requests: 34, retries: 0, throttled: 2, bytes: 12_400_000, responseMs: 0 },
    retryCause: () => retryCause,
  }
  observer.begun(
    facts,
    Object.keys(starts).map((name) => ({ name, counts: countsOf(name) })),
  )
  observer.planned(new Map(Object.entries(starts)))
  return {
    ...terminal,
    clock,
    screen,
    observer,
    finish: (outcome: Partial<SyncOutcome> = {}) => finish({ failures: [], ...outcome }),
    begin: (name: string) => observer.started(name, starts[name] ?? FIRST),
    read(name: string, records: number, deletes = 0) {
      countsOf(name).records += records
      countsOf(name).deletes += deletes
    },
    wait(why: string | undefined) {
      retryCause = why
    },
  }

  function countsOf(name: string) {
    return counts[name] ?? { records: 0, deletes: 0 }
  }
}

/** A sync after 24 seconds: one stream is complete, one is being read, one is waiting. */
function underWay(columns: number) {
  const sync = started(columns)
  sync.begin('people')
  sync.read('people', 250, 1)
  sync.clock.pass(2)
  sync.observer.ended('people')
  sync.begin('clockings')
  for (let i = 0; i < 88; i++) {
    sync.read('clockings', 250)
    sync.clock.pass(0.25)
  }
  return sync
}

/** The same sync at its end. */
function over(columns: number) {
  const sync = underWay(columns)
  const error = new ConnectorError(
    'transient',
    'service-fails',
    'The service is away. The next sync tries again.',
  )
  sync.observer.ended('clockings', error)
  sync.begin('job_categories')
  sync.read('job_categories', 41)
  sync.observer.ended('job_categories')
  sync.finish({ failures: [{ stream: 'clockings', error }] })
  return sync
}

describe('the block on a terminal', () => {
  it.each([
    [
      120,
      `  clockings 22,000 rows, 1,000/s, 44 % of about 50,000
1 of 3 streams, 22,251 rows, 1,000/s, 0:24, about 0:28 left`,
    ],
    [
      48,
      `  clockings 22,000 rows, 1,000/s
1 of 3 streams, 22,251 rows, 1,000/s, 0:24`,
    ],
    [
      24,
      `  clockings 22,000 rows
1 of 3 streams`,
    ],
  ])('fits into %i columns', (columns, block) => {
    expect(underWay(columns).shown()).toBe(block)
  })

  it('says why the sync is waiting, without a secret', () => {
    const sync = underWay(80)
    sync.wait('The service refused hunter22 until 12:00.')
    sync.clock.pass(1)
    expect(sync.shown()).toMatch(/\nwaiting: The service refused \*\*\*\* until 12:00\.$/)
  })

  it('is not broken by a line of the log, which appears above it', () => {
    const sync = underWay(80)
    const block = sync.shown()
    sync.screen.write('WARNING people: something.\n')
    sync.screen.write('WARNING people: and more.\n')
    expect(sync.shown()).toBe(`WARNING people: something.\nWARNING people: and more.\n${block}`)
  })

  it('leaves no line behind when it becomes shorter', () => {
    const sync = underWay(80)
    sync.observer.ended('clockings')
    sync.clock.pass(1)
    expect(sync.shown()).toMatch(/^2 of 3 streams[^\n]*$/)
  })

  it('shows no remaining time while a stream without an earlier count is read', () => {
    const sync = started(80, { starts: { ...STREAMS, absences: FIRST } })
    sync.begin('absences')
    sync.read('absences', 500)
    sync.clock.pass(1)
    expect(sync.shown()).toContain('500 rows')
    expect(sync.shown()).not.toContain('left')
  })

  it('leaves room on a terminal with few rows', () => {
    const names = Array.from({ length: 9 }, (_, i) => `stream_${i}`)
    const starts = Object.fromEntries(names.map((name) => [name, FIRST]))
    const sync = started(80, { starts, rows: 6 })
    for (const name of names) sync.begin(name)
    sync.clock.pass(1)
    expect(sync.shown().split('\n')).toHaveLength(4)
    expect(sync.shown()).toContain('and 7 more')
  })
})

describe('the table at the end', () => {
  it.each([
    [
      120,
      `stream            rows  deletes  seconds  how
people             250        1      2.0  incremental
clockings       22,000        0     22.0  failed, from the beginning: expired link
job_categories      41        0      0.0  whole list
total           22,291        1     24.0
34 requests, 2 throttled, 12.4 MB
clockings: The service is away. The next sync tries again. (transient) [service-fails]
`,
    ],
    [
      48,
      `stream            rows  how
people             250  incremental
clockings       22,000  failed, from the beginn…
job_categories      41  whole list
total           22,291
34 requests, 2 throttled, 12.4 MB
clockings: The service is away. The next sync tr
ies again. (transient) [service-fails]
`,
    ],
    [
      24,
      `stream            rows
people             250
clockings       22,000
job_categories      41
total           22,291
34 requests, 2 throttled
clockings: The service i
s away. The next sync tr
ies again. (transient) [
service-fails]
`,
    ],
  ])('fits into %i columns, with what failed last', (columns, table) => {
    expect(over(columns).shown()).toBe(table)
  })

  it('shows failures in red, unless NO_COLOR is set', () => {
    const written = (env: Record<string, string>) => {
      const sync = started(80, { env })
      sync.finish({ failures: [{ error: new ConnectorError('config', 'x-test', 'No.') }] })
      return sync.written()
    }
    expect(written({})).toContain('\u001b[31mNo. (config) [x-test]\u001b[0m')
    expect(written({ NO_COLOR: '1' })).not.toContain('\u001b[31m')
  })

  it('says where a sync continues that was stopped', () => {
    const sync = underWay(120)
    sync.finish({ stoppedBy: 'SIGINT' })
    expect(sync.shown()).toContain(
      'clockings       22,000        0     22.0  stopped, from the beginning: expired link\njob_categories       0        0      0.0  not read\n',
    )
    expect(sync.shown()).toMatch(
      /\nStopped by SIGINT\. Written: 22250 records and 1 delete, 1 of 3 streams complete\. All is kept\.\n$/,
    )
  })
})

it('logs how a sync begins, its progress each minute, how each stream ended, and where the next sync continues', () => {
  const said: string[] = []
  const clock = createFakeClock()
  const log = { info: (line: string) => void said.push(line) }
  const lines = createLogLines({ log, clock, program: 'tap-x 1.2.3', kept: 'All is kept.' })
  const { observer, finish } = createSyncProgress([lines], clock)
  const starts: Record<string, StreamStart> = {
    people: { kind: 'changes', how: 'incremental' },
    clockings: { kind: 'begins', how: 'from the beginning: first sync', expected: 90_000 },
    jobs: { kind: 'whole', how: 'whole list' },
    absences: { kind: 'continues', how: 'continued' },
  }
  const counts = { records: 0, deletes: 0 }
  let retryCause: string | undefined
  const facts = {
    subject: 'tenant acme',
    labels: {},
    traffic: { requests: 0, retries: 0, throttled: 0, bytes: 0, responseMs: 0 },
    retryCause: () => retryCause,
  }
  observer.begun(
    facts,
    Object.keys(starts).map((name) => ({
      name,
      counts: name === 'clockings' ? counts : { records: 3, deletes: 1 },
    })),
  )
  observer.planned(new Map(Object.entries(starts)))
  observer.started('people', starts['people'] as StreamStart)
  clock.pass(0.4)
  observer.ended('people')
  observer.started('clockings', starts['clockings'] as StreamStart)
  counts.records = 6000
  clock.pass(60)
  retryCause = 'The service is away.'
  clock.pass(60)
  observer.ended('clockings', new ConnectorError('transient', 'x-test', 'No.'))
  finish({ failures: [], stoppedBy: 'SIGTERM' })
  clock.pass(300)
  expect(said).toEqual([
    'tap-x 1.2.3, tenant acme, 4 streams: 2 to continue, 1 from the beginning, 1 as whole lists.',
    'people: 3 records and 1 delete in 0.4 s, incremental.',
    '1 of 4 streams done, 6012 rows, 100 rows/s; in progress: clockings 6000 of about 90000.',
    '1 of 4 streams done, 6012 rows, 0 rows/s; in progress: clockings 6000 of about 90000. Waiting: The service is away.',
    'clockings: failed after 6000 records in 120.0 s.',
    'Stopped by SIGTERM. Written: 6009 records and 3 deletes, 1 of 4 streams complete. All is kept.',
  ])
})

const AT = new Date('2026-11-22T03:00:00Z')
const START = { kind: 'changes', how: 'incremental' } as const

function syncOf(tenant: string, status: 'complete' | 'failed' = 'complete'): SyncProgress {
  const counts = { records: 250, deletes: 1 }
  return {
    subject: `tenant ${tenant}`,
    labels: { tenant },
    streams: [
      { name: 'people', status, start: START, isBegun: true, counts, requests: 9, seconds: 2 },
    ],
    traffic: { requests: 34, retries: 3, throttled: 2, bytes: 1200, responseMs: 0 },
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

/** The samples of a metrics file, by the names of their metrics. */
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
      'x_sync_throttled{program="tap-x",tenant="acme"} 2',
      'x_sync_received_bytes{program="tap-x",tenant="acme"} 1200',
      'x_sync_stream_rows{program="tap-x",tenant="acme",stream="people"} 250',
      'x_sync_stream_deletes{program="tap-x",tenant="acme",stream="people"} 1',
      'x_sync_stream_requests{program="tap-x",tenant="acme",stream="people"} 9',
      'x_sync_stream_duration_seconds{program="tap-x",tenant="acme",stream="people"} 2',
      'x_sync_stream_failed{program="tap-x",tenant="acme",stream="people"} 0',
      'x_sync_stream_withheld{program="tap-x",tenant="acme",stream="people"} 0',
      'x_sync_stream_last_complete_timestamp_seconds{program="tap-x",tenant="acme",stream="people"} 1795316400',
      'x_sync_stream_selected{program="tap-x",tenant="acme",stream="people"} 1',
    ])
    expect(textOf(syncOf('acme'))).toMatch(
      /^# HELP x_sync_requests .*\n# TYPE x_sync_requests gauge\n/m,
    )
  })

  it('of a sync that failed before it began show that', () => {
    const text = textOf(undefined, '', new ConnectorError('config', 'x-test', 'No.'))
    expect(samples(text)).toContain('x_sync_success{program="tap-x"} 0')
    expect(samples(text)).toContain('x_sync_failures{program="tap-x",kind="config"} 1')
  })

  it('leave out the requests of streams whose source does not count them', () => {
    const { streams, ...sync } = syncOf('acme')
    const text = textOf({
      ...sync,
      streams: streams.map((stream) => ({ ...stream, requests: undefined })),
    })
    expect(text).not.toContain('stream_requests')
  })

  it('escape what a label may not hold', () => {
    expect(textOf(syncOf('a"b\\c'))).toContain('tenant="a\\"b\\\\c"')
  })
})

describe('when a stream was complete last', () => {
  const last = (text: string) => samples(text).filter((line) => line.includes('last_complete'))
  const earlier = textOf(syncOf('acme')).replaceAll('1795316400', '1795230000')

  it('stays unchanged if the stream fails or the sync does not begin', () => {
    expect(last(textOf(syncOf('acme', 'failed'), earlier))).toEqual(last(earlier))
    expect(last(textOf(undefined, earlier))).toEqual(last(earlier))
  })

  it('is now if it is read completely', () => {
    expect(last(textOf(syncOf('acme'), earlier))).toEqual(last(textOf(syncOf('acme'))))
  })

  it('is 0 if the stream was never read completely, so that an alert can see it', () => {
    const never = textOf(syncOf('acme', 'failed'))
    expect(last(never)).toEqual([
      'x_sync_stream_last_complete_timestamp_seconds{program="tap-x",tenant="acme",stream="people"} 0',
    ])
    expect(last(textOf(syncOf('acme', 'failed'), never))).toEqual(last(never))
  })

  it('is kept for a stream that is no longer selected, and marked', () => {
    const old = earlier.replaceAll('stream="people"', 'stream="jobs"')
    const text = textOf(syncOf('acme'), old)
    expect(last(text).length).toBe(2)
    const marks = samples(text).filter((line) => line.includes('_selected'))
    expect(marks.map((line) => line.replace(/.*stream=/, ''))).toEqual(['"people"} 1', '"jobs"} 0'])
  })

  it('is not taken from another tenant', () => {
    const text = last(textOf(syncOf('globex', 'failed'), earlier)).join()
    expect([text.includes('globex'), text.includes('acme')]).toEqual([true, false])
  })
})
