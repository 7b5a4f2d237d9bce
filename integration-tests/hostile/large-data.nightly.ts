import { randomUUID } from 'node:crypto'
import { Writable } from 'node:stream'
import { describe, expect, it, onTestFinished } from 'vitest'
import { seeded } from '../../src/page/testing/generated-body.ts'
import type { Message } from '../../src/protocol/acceptance/messages.ts'
import { type Scenario, startScenario } from '../histories/scenario.ts'
import { parseLines, run } from '../testing/run.ts'
import {
  type Answers,
  chunked,
  inCrumbs,
  LETTERS,
  page,
  repeated,
  rowOf,
  startRawService,
} from './raw-service.ts'
import { configOf, PREFIX, runScenario, STREAM, token } from './scenario.ts'

/** What a program said; records are counted and thrown away. */
interface Sifted {
  readonly records: number
  readonly bytes: number
  readonly messages: readonly Message[]
}

const RECORD = Buffer.from('{"type":"RECORD"')

/** An output that counts the lines of records and keeps all others; none is held in memory whole. */
function createSieve(): Writable & { result(): Sifted } {
  let start: Buffer = Buffer.alloc(0)
  let isRecord = false
  let records = 0
  let bytes = 0
  let others = ''
  const output = new Writable({
    write(chunk: Buffer, _encoding, done) {
      bytes += chunk.length
      for (let at = 0; at < chunk.length; ) {
        const end = chunk.indexOf(10, at)
        take(chunk.subarray(at, end < 0 ? chunk.length : end), end >= 0)
        at = end < 0 ? chunk.length : end + 1
      }
      done()
    },
  })
  return Object.assign(output, {
    result: () => ({ records, bytes, messages: parseLines(others) }),
  })

  function take(part: Buffer, isEnd: boolean): void {
    if (!isRecord) start = Buffer.concat([start, part])
    isRecord ||= start.length >= RECORD.length && start.subarray(0, RECORD.length).equals(RECORD)
    if (!isEnd) return
    if (isRecord) records++
    else others += `${start.toString()}\n`
    start = Buffer.alloc(0)
    isRecord = false
  }
}

async function counted(api: Answers, stream = STREAM): Promise<Sifted> {
  const service = await startRawService((asked, nth) =>
    asked.target.includes('/connect/token') ? token() : api(asked, nth),
  )
  try {
    // Two processes that share a busy machine may be silent to each other for a second.
    const config = { ...configOf(service.url), request_timeout_seconds: 60, max_record_mb: 64 }
    const stdout = createSieve()
    await run({ program: 'source-protime', command: 'read', config, catalog: [stream], stdout })
    return stdout.result()
  } finally {
    await service.close()
  }
}

/** A page of 300 bytes per row, in parts of so many rows. */
function* largePage(rows: number, perPart: number): Generator<string> {
  const text = 'y'.repeat(230)
  yield '{"value":['
  for (let id = 1; id <= rows; id += perPart) {
    const part = Array.from({ length: perPart }, (_, i) =>
      JSON.stringify({ ...rowOf(id + i), text }),
    )
    yield `${id > 1 ? ',' : ''}${part.join(',')}`
  }
  yield `],"deltaLink":"${PREFIX}/delta/departments?deltaToken=first-token"}`
}

describe('a page that is large, and right', () => {
  it('of 300 MB is read', async () => {
    const [rows, perPart] = [1_000_000, 200]
    const result = await counted(
      (asked) =>
        asked.target.includes('deltaToken')
          ? page([], { deltaLink: `${PREFIX}/delta/departments?deltaToken=second-token` })
          : chunked(largePage(rows, perPart)),
      'departments',
    )
    expect(result.messages.flatMap(({ trace }) => trace?.error?.message ?? [])).toEqual([])
    expect(result.records).toBe(rows)
    expect(result.bytes).toBeGreaterThan(300e6)
  })

  it('with a record of 60 MB is read', async () => {
    const result = await counted(() =>
      chunked(repeated('{"value":[{"id":1,"x":"', LETTERS, 915, '"}]}')),
    )
    expect(result.messages.flatMap(({ trace }) => trace?.error?.message ?? [])).toEqual([])
    expect(result.records).toBe(1)
  })
})

describe('a body in crumbs', () => {
  it.each([
    ['of a small page', 4_000_000],
    ['of a large page', 9_000_000],
  ])('%s is read', async (_name, bytes) => {
    const recording = await runScenario({ api: () => () => inCrumbs(bytes) })
    expect([recording.errors, recording.exitCode]).toEqual([[], 0])
  })
})

/** A scenario that is closed behind its test. */
async function opened(...of: Parameters<typeof startScenario>): Promise<Scenario> {
  const scenario = await startScenario(...of)
  onTestFinished(() => scenario.emulator.close())
  return scenario
}

describe('the states of a run', () => {
  it('of more than 20 MB with scattered ids take less than 5 % of its records', async () => {
    const scenario = await opened(['people'], { people: 1, pageSize: 1000 })
    const [person] = scenario.emulator.all('people')
    const random = seeded(1)
    const ids = new Set(Array.from({ length: 26_000 }, () => random(2 ** 32)))
    for (const id of ids)
      scenario.emulator.restore('people', { ...person, id, comments: 'x'.repeat(300) })
    const { messages } = await scenario.sync()
    const sizes = { RECORD: 0, STATE: 0 }
    for (const message of messages) {
      if (message.type === 'RECORD' || message.type === 'STATE')
        sizes[message.type] += JSON.stringify(message).length
    }
    expect(sizes.RECORD).toBeGreaterThan(20e6)
    expect(sizes.STATE).toBeLessThan(sizes.RECORD * 0.05)
    expect(messages.filter(({ type }) => type === 'STATE').length).toBeGreaterThan(3)
    expect(scenario.differences()).toEqual([])
  })
})

describe('a stream with more ids than a bookmark can hold', () => {
  it('says so, and its ghosts are the rows of older generations', async () => {
    const scenario = await opened(['activity_definitions'], { people: 1, pageSize: 5000 })
    const { emulator, sync } = scenario
    const [sample] = emulator.all('activity-definitions')
    for (let i = 0; i < 80_000; i++) {
      emulator.restore('activity-definitions', { ...sample, id: randomUUID() })
    }
    const first = await sync()
    expect(first.warnings).toEqual([expect.stringContaining('set of live ids is too large')])
    const events = first.messages.flatMap(({ trace }) => trace?.analytics ?? [])
    expect(events).toEqual([{ type: 'untracked-deletes', value: 'activity_definitions' }])
    emulator.remove('activity-definitions', String(sample?.['id']))
    emulator.advance({ hours: 1 })
    const second = await sync()
    expect(second.deleted).toEqual([])
    const newest = new Map([...first.records, ...second.records].map((row) => [row['id'], row]))
    const generations = [...newest.values()].map((row) => Number(row['_generation']))
    const generation = generations.reduce((a, b) => Math.max(a, b))
    const ghosts = [...newest.values()].filter((row) => Number(row['_generation']) < generation)
    expect(ghosts.map(({ id }) => id)).toEqual([sample?.['id']])
  })
})
