import { expect, it } from 'vitest'
import { ConnectorError } from '../../ground/errors.ts'
import type { StreamStart } from '../connector.ts'
import { createLogLines } from './log-lines.ts'
import { createSyncProgress } from './sync-progress.ts'
import { createFakeClock } from './testing/fake-terminal.ts'

it('says how a sync begins, how far it is each minute, how each stream ended, and what is kept', () => {
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
  observer.begun({
    subject: 'tenant acme',
    labels: {},
    streams: Object.keys(starts).map((name) => ({
      name,
      counts: name === 'clockings' ? counts : { records: 3, deletes: 1 },
    })),
    traffic: { requests: 0, retries: 0, refusals: 0, bytes: 0, answerMs: 0 },
    retryCause: () => retryCause,
  })
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
    'Stopped by SIGTERM. Handed over: 6009 records and 3 deletes, 1 of 4 streams complete. All is kept.',
  ])
})
