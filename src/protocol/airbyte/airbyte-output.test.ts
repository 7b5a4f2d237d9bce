import { describe, expect, it } from 'vitest'
import { ConnectorError } from '../../ground/errors.ts'
import { createJsonBatch, DELETE, SKIP, SOFT_DELETE } from '../../records/record-batch.ts'
import { CheckedOutput } from '../checked-output.ts'
import type { LineWriter } from '../line-writer.ts'
import { createAirbyteOutput, createAirbyteStates } from './airbyte-output.ts'

const NOON = new Date('2026-03-01T12:00:00Z')
const STAMP = { generation: 1, cursor: NOON.getTime() * 1000, now: NOON }

/** The outputs of one sync, and what they wrote: an array of messages for each write. */
function opened() {
  const writes: Message[][] = []
  const writer: LineWriter = {
    gone: false,
    flush: async () => {},
    write(...lines) {
      const text = lines.map((line) => Buffer.from(line).toString()).join('')
      const messages = text.split('\n').filter(Boolean)
      if (messages.length > 0) writes.push(messages.map((line) => JSON.parse(line)))
      return undefined
    },
  }
  const states = createAirbyteStates()
  const open = (name: string) => {
    const kinds = { isIncremental: true, hasDeletes: true, hasGenerations: true }
    const spec = { name, schema: {}, key: ['id'], ...kinds }
    const output = new CheckedOutput(spec, {
      writer: createAirbyteOutput({ spec, writer, states }),
      log: { debug() {}, info() {}, warn() {} },
      started: () => {},
      ended: () => {},
    })
    return output
  }
  return { open, writes }
}

interface Message {
  readonly type: string
  readonly record?: { readonly stream: string; readonly emitted_at: number; readonly data: object }
  readonly state?: {
    readonly stream: { readonly stream_descriptor: { name: string }; readonly stream_state: object }
    readonly sourceStats: { readonly recordCount: number }
  }
  readonly trace?: {
    readonly type: string
    readonly stream_status?: { readonly status: string; readonly reasons?: object[] }
    readonly analytics?: object
  }
}

/** A message in a word or two: `a record`, `a state 2`, `RUNNING`. */
function word({ record, state, trace }: Message): string {
  if (record) return `${record.stream} record`
  if (state) return `${state.stream.stream_descriptor.name} state ${state.sourceStats.recordCount}`
  return trace?.stream_status?.status ?? String(trace?.type)
}

function batchOf(count: number) {
  return createJsonBatch(
    Array.from({ length: count }, (_, id) => ({ json: JSON.stringify({ id }) })),
  )
}

describe('the statuses of a stream', () => {
  it('come once each, in their order', async () => {
    const { open, writes } = opened()
    const output = open('a')
    output.started()
    await output.records(batchOf(1), STAMP)
    await output.records(batchOf(1), STAMP)
    await output.complete()
    const words = ['STARTED', 'RUNNING', 'a record', 'a record', 'a state 2', 'COMPLETE']
    expect(writes.flat().map(word)).toEqual(words)
  })

  it('are complete, with a state, even if the source has no state and no record', async () => {
    const { open, writes } = opened()
    const output = open('a')
    output.started()
    await output.complete()
    expect(writes.flat().map(word)).toEqual(['STARTED', 'RUNNING', 'a state 0', 'COMPLETE'])
  })

  it('say until when the service asks to wait, and that a stream is still waiting', () => {
    const { open, writes } = opened()
    const output = open('a')
    output.started()
    output.note({ type: 'rate limited', until: NOON })
    output.note({ type: 'waiting' })
    expect(writes.flat().map(({ trace }) => trace?.stream_status)).toEqual([
      { stream_descriptor: { name: 'a' }, status: 'STARTED' },
      expect.objectContaining({
        status: 'RUNNING',
        reasons: [{ type: 'RATE_LIMITED', rate_limited: { quota_reset: NOON.getTime() } }],
      }),
      { stream_descriptor: { name: 'a' }, status: 'RUNNING' },
    ])
  })

  it('end after the rows that were read if the stream failed', () => {
    const { open, writes } = opened()
    const output = open('a')
    output.started(() => ({}))
    void output.records(batchOf(2), STAMP)
    void output.failed(new ConnectorError('transient', 'x-away', 'Away.'))
    expect(writes.map((write) => write.map(word))).toEqual([
      ['STARTED'],
      ['RUNNING'],
      ['a record', 'a record', 'a state 2'],
      ['INCOMPLETE'],
    ])
  })
})

describe('a STATE', () => {
  it('is written together with its records', async () => {
    const { open, writes } = opened()
    const output = open('a')
    output.started(() => ({ at: 1 }))
    await output.records(batchOf(1), STAMP)
    await output.checkpoint()
    expect(writes.at(-1)?.map(word)).toEqual(['a record', 'a state 1'])
  })

  it('counts the records since the one before it, deletes included', async () => {
    const { open, writes } = opened()
    const output = open('a')
    output.started(() => ({}))
    await output.records(batchOf(3), STAMP)
    await output.checkpoint()
    await output.records(batchOf(1), STAMP)
    await output.deletes(['"id":7'], STAMP)
    await output.complete()
    const states = writes.flat().filter(({ type }) => type === 'STATE')
    expect(states.map(word)).toEqual(['a state 3', 'a state 2'])
  })

  it('is written with those of other streams that have records since their own', async () => {
    const { open, writes } = opened()
    const [a, b, c] = [open('a'), open('b'), open('c')]
    for (const output of [a, b, c]) output.started(() => ({}))
    await a.records(batchOf(1), STAMP)
    // A destination does not have held records yet, and must not get their STATE.
    await b.records(batchOf(1), STAMP)
    await b.records(batchOf(0), STAMP)
    await a.checkpoint()
    await c.checkpoint()
    expect(writes.slice(5).map((write) => write.map(word))).toEqual([
      ['b record'],
      ['a record', 'a state 1', 'b state 1'],
      ['c state 0'],
    ])
  })

  it('is written without that of a stream whose records are still held back', async () => {
    const { open, writes } = opened()
    const [a, b] = [open('a'), open('b')]
    a.started(() => ({}))
    b.started(() => ({}))
    await b.records(batchOf(1), STAMP)
    await a.checkpoint()
    expect(writes.at(-1)?.map(word)).toEqual(['a state 0'])
  })

  it('waits until it is worth its size if it is large, unless it must be written', async () => {
    const { open, writes } = opened()
    const output = open('a')
    output.started(() => ({ ids: 'x'.repeat(1_200_000) }))
    await output.checkpoint()
    await output.records(batchOf(1), STAMP)
    await output.checkpoint()
    expect(writes.at(-1)?.map(word)).toEqual(['a record'])
    await output.checkpoint({ flush: true })
    expect(writes.at(-1)?.map(word)).toEqual(['a state 1'])
  })
})

describe('a record', () => {
  it('has its generation and cursor, and the time of its deletion if it is deleted', async () => {
    const { open, writes } = opened()
    const output = open('a')
    const batch = batchOf(4)
    batch.ops.set([DELETE, SOFT_DELETE, SKIP], 1)
    output.started()
    await output.records(batch, { generation: 5, cursor: 7, now: NOON })
    await output.deletes(['"id":8'], { generation: 5, cursor: 8, now: NOON })
    const rows = writes.flat().flatMap(({ record }) => record?.data ?? [])
    const stamp = { _generation: 5, _ab_cdc_cursor: 7 }
    const deleted = { _ab_cdc_deleted_at: NOON.toISOString(), ...stamp }
    expect(rows).toEqual([
      { id: 0, _ab_cdc_deleted_at: null, ...stamp },
      { id: 1, ...deleted },
      { id: 2, ...deleted },
      { id: 8, ...deleted, _ab_cdc_cursor: 8 },
    ])
    expect(output.counts).toMatchObject({ records: 1, deletes: 3, isTracked: true })
  })

  it("is emitted at the service's time, and never before the time of its cursor", async () => {
    const { open, writes } = opened()
    const output = open('a')
    output.started()
    await output.records(batchOf(1), { generation: 1, cursor: 5, now: NOON })
    const later = NOON.getTime() + 60_000
    await output.records(batchOf(1), { generation: 1, cursor: later * 1000 + 7, now: NOON })
    await output.complete()
    const times = writes.flat().flatMap(({ record }) => record?.emitted_at ?? [])
    expect(times).toEqual([NOON.getTime(), later])
  })

  it('calls the listener once, when the first one has left the process', async () => {
    const { open, writes } = opened()
    const output = open('a')
    const heard: string[][] = []
    output.onFirstRecord(() => heard.push(writes.flat().map(word)))
    output.started()
    await output.records(batchOf(0), STAMP)
    for (const _ of [1, 2]) {
      await output.records(batchOf(1), STAMP)
      await new Promise(setImmediate)
    }
    expect(heard).toEqual([['STARTED', 'RUNNING', 'a record']])
  })
})

describe('a stream whose rows can no longer be tracked', () => {
  it('is reported once', () => {
    const { open, writes } = opened()
    const output = open('a')
    output.started()
    output.note({ type: 'untracked' })
    output.note({ type: 'untracked' })
    expect(writes.flat().flatMap(({ trace }) => trace?.analytics ?? [])).toEqual([
      { type: 'untracked-deletes', value: 'a' },
    ])
    expect(output.counts.isTracked).toBe(false)
  })
})
