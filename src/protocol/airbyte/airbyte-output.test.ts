import { describe, expect, it } from 'vitest'
import { createJsonBatch, DELETE, SKIP, SOFT_DELETE } from '../../records/record-batch.ts'
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
    return createAirbyteOutput({
      spec: { name, schema: {}, key: ['id'], ...kinds },
      writer,
      states,
    })
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
    output.started()
    output.running()
    output.running()
    await output.complete()
    const words = ['STARTED', 'RUNNING', 'a state 0', 'COMPLETE']
    expect(writes.flat().map(word)).toEqual(words)
  })

  it('are complete, with a state, even if the source has none and never called running', async () => {
    const { open, writes } = opened()
    const output = open('a')
    output.started()
    await output.complete()
    expect(writes.flat().map(word)).toEqual(['STARTED', 'RUNNING', 'a state 0', 'COMPLETE'])
  })

  it('say until when the service asks to wait, and that a stream is still waiting', () => {
    const { open, writes } = opened()
    const output = open('a')
    output.rateLimited(NOON)
    output.waiting()
    expect(writes.flat().map(({ trace }) => trace?.stream_status)).toEqual([
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
    output.incomplete()
    expect(writes.map((write) => write.map(word))).toEqual([
      ['STARTED'],
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
    expect(writes.slice(1).map((write) => write.map(word))).toEqual([['a record', 'a state 1']])
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
    await b.flush()
    await a.checkpoint()
    await c.checkpoint()
    expect(writes.slice(3).map((write) => write.map(word))).toEqual([
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
    expect(writes.slice(2).map((write) => write.map(word))).toEqual([['a state 0']])
  })

  it('waits until it is worth its size if it is large, unless it must be written', async () => {
    const { open, writes } = opened()
    const output = open('a')
    output.started(() => ({ ids: 'x'.repeat(800_000) }))
    await output.checkpoint()
    await output.records(batchOf(1), STAMP)
    await output.checkpoint()
    expect(writes.at(-1)?.map(word)).toEqual(['a record'])
    await output.state()
    expect(writes.at(-1)?.map(word)).toEqual(['a state 1'])
  })
})

describe('a record', () => {
  it('has its generation and cursor, and the time of its deletion if it is deleted', async () => {
    const { open, writes } = opened()
    const output = open('a')
    const batch = batchOf(4)
    batch.ops.set([DELETE, SOFT_DELETE, SKIP], 1)
    await output.records(batch, { generation: 5, cursor: 7, now: NOON })
    await output.deletes(['"id":8'], { generation: 5, cursor: 8, now: NOON })
    const rows = writes.flat().map(({ record }) => record?.data)
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
    await output.records(batchOf(1), { generation: 1, cursor: 5, now: NOON })
    const later = NOON.getTime() + 60_000
    await output.records(batchOf(1), { generation: 1, cursor: later * 1000 + 7, now: NOON })
    await output.flush()
    const times = writes.flat().map(({ record }) => record?.emitted_at)
    expect(times).toEqual([NOON.getTime(), later])
  })

  it('calls the listener once, when the first one is emitted', async () => {
    const { open } = opened()
    const output = open('a')
    let heard = 0
    output.onRecord(() => heard++)
    expect(heard).toBe(0)
    await output.records(batchOf(1), STAMP)
    expect(heard).toBe(1)
  })
})

describe('a stream whose rows can no longer be tracked', () => {
  it('is reported once', () => {
    const { open, writes } = opened()
    const output = open('a')
    output.untracked()
    output.untracked()
    expect(writes.flat().map(({ trace }) => trace?.analytics)).toEqual([
      { type: 'untracked-deletes', value: 'a' },
    ])
    expect(output.counts.isTracked).toBe(false)
  })
})
