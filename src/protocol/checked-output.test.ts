import { describe, expect, it } from 'vitest'
import { ConnectorError } from '../ground/errors.ts'
import { createJsonBatch } from '../records/record-batch.ts'
import { CheckedOutput } from './checked-output.ts'
import type { StreamNotice, StreamOutput } from './connector.ts'
import type { StreamWriter } from './stream-writer.ts'

const NOON = new Date('2026-03-01T12:00:00Z')
const STAMP = { generation: 1, cursor: NOON.getTime() * 1000, now: NOON }

/** An output, and the calls that reach its writer. */
function opened() {
  const calls: string[] = []
  const called = (name: string) => void calls.push(name)
  const writer: StreamWriter = {
    started: () => called('started'),
    records: () => called('records'),
    deletes: () => called('deletes'),
    checkpoint: () => called('checkpoint'),
    note: ({ type }) => called(type),
    ended: (isComplete) => called(isComplete ? 'complete' : 'failed'),
    flush: async () => {},
  }
  const spec = { name: 'a', key: ['id'], hasDeletes: true, hasGenerations: true }
  const log = { debug() {}, info: called, warn() {} }
  const output = new CheckedOutput(spec, { writer, log, started: () => {}, ended: () => {} })
  return { output, calls }
}

const WAITS: readonly StreamNotice[] = [
  { type: 'waiting' },
  { type: 'rate limited', until: NOON },
  { type: 'rate limited', until: new Date(Number.NaN) },
]
const CALLS: readonly [string, (output: StreamOutput) => unknown][] = [
  ['records', (output) => output.records(createJsonBatch([{ json: '{"id":1}' }]), STAMP)],
  ['deletes', (output) => output.deletes(['"id":1'], STAMP)],
  ['checkpoint', (output) => output.checkpoint()],
  ['a complete generation', noting({ type: 'generation complete', generation: 1 })],
  ['withheld rows', noting({ type: 'withheld', rows: 1 })],
  ['left days', noting({ type: 'left', field: 'day', day: '2026-03-01' })],
  [
    'another start',
    noting({ type: 'started over', start: { kind: 'begins', how: 'from the beginning' } }),
  ],
]

function noting(notice: StreamNotice) {
  return (output: StreamOutput) => output.note(notice)
}

describe.each(CALLS)('%s', (_what, call) => {
  it('cannot come before the start', () => {
    const { output, calls } = opened()
    expect(() => call(output)).toThrow('it has not been started')
    expect(calls).toEqual([])
  })

  it('can come after it', async () => {
    const { output, calls } = opened()
    output.started()
    await call(output)
    expect([output.failure, calls.length > 1]).toEqual([undefined, true])
  })

  it('cannot come after the end', async () => {
    const { output, calls } = opened()
    output.started()
    await output.complete()
    expect(() => call(output)).toThrow('it has ended already')
    expect(calls).toEqual(['started', 'running', 'complete'])
  })
})

it('a stream is started once', async () => {
  const { output } = opened()
  output.started()
  expect(() => output.started()).toThrow('it is started twice')
  const { output: another } = opened()
  await another.failed(new ConnectorError('transient', 'x-away', 'Away.'))
  expect(() => another.started()).toThrow('Away.')
})

it.each(WAITS)('a wait has no effect before the start and after the end: %j', async (wait) => {
  const { output, calls } = opened()
  output.note(wait)
  output.started()
  await output.complete()
  output.note(wait)
  expect([output.failure, calls]).toEqual([undefined, ['started', 'running', 'complete']])
})

it('says once that the rows are not tracked, after the end at the latest', async () => {
  const { output, calls } = opened()
  output.note({ type: 'untracked' })
  output.started()
  await output.complete()
  for (let i = 0; i < 2; i++) output.note({ type: 'untracked' })
  expect(calls).toEqual(['started', 'running', 'complete', 'untracked'])
  expect(output.counts.isTracked).toBe(false)
})

it.each<[unknown, string]>([
  [{ type: 'generation complete', generation: -1.5 }, 'its generation -1.5 is not an integer'],
  [{ type: 'generation complete', generation: 0 }, 'its generation 0 is not an integer'],
  [{ type: 'generation complete' }, 'its generation undefined is not an integer'],
  [{ type: 'withheld', rows: -3 }, 'its number of withheld rows, -3, is not an integer'],
  [{ type: 'withheld', rows: 0.5 }, 'its number of withheld rows, 0.5, is not an integer'],
  [{ type: 'left', field: '', day: '2026-03-01' }, 'the field of the days that are left'],
  [{ type: 'left', day: '2026-03-01' }, 'the field of the days that are left'],
  [{ type: 'left', field: 'day', day: '2026-02-30' }, 'its first day is not a date'],
  [{ type: 'left', field: 'day', day: "'; DROP" }, 'its first day is not a date'],
  [{ type: 'left', field: 'day' }, 'its first day is not a date'],
  [{ type: 'rate limited', until: new Date(Number.NaN) }, 'the time until which it waits'],
  [{ type: 'over' }, 'a notice is of an unknown type'],
])('passes nothing on of %j', (notice, words) => {
  const { output, calls } = opened()
  output.started()
  expect(() => output.note(notice as StreamNotice)).toThrow(words)
  expect(calls).toEqual(['started'])
  expect(output.failure?.id).toBe('library-misused')
})
