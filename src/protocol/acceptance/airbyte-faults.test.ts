import { describe, expect, it } from 'vitest'
import { runConnector } from '../../../integration-tests/testing/run.ts'
import { createJsonBatch } from '../../records/record-batch.ts'
import { runAirbyte } from '../airbyte/entrypoint.ts'
import type { Connector } from '../connector.ts'
import { airbyteFaults, type SourceCommand } from './airbyte-faults.ts'
import type { ProgramRun } from './messages.ts'

const SECRET = 'open-sesame'
const STREAMS = ['books', 'journals']

/** Two streams of three records on two pages. */
const shop: Connector<object> = {
  name: 'shop',
  version: '1.0.0',
  description: 'Reads a shop.',
  spec: { connectionSpecification: { type: 'object', properties: {} } },
  load: async () => ({
    configure: () => ({}),
    streams: () =>
      STREAMS.map((name) => ({
        name,
        schema: { type: 'object', properties: { shelf: {}, isbn: {} } },
        key: ['shelf', 'isbn'],
        isIncremental: true,
      })),
    check: async () => ({ isUsable: true, message: 'A shop.' }),
    async read(_config, requests) {
      let cursor = Date.now() * 1000
      for (const { output } of requests) {
        let pages = 0
        output.started(() => ({ pages }))
        for (const isbns of [[1, 2], [3]]) {
          const batch = createJsonBatch(
            isbns.map((isbn) => ({ json: `{"shelf":"a","isbn":${isbn}}` })),
          )
          await output.records(batch, { generation: 1, cursor: ++cursor, now: new Date() })
          pages++
          await output.checkpoint()
        }
        await output.complete()
      }
    },
  }),
}

// biome-ignore lint/suspicious/noExplicitAny: a value that is wrong on purpose has no type
type Loose = any
interface Lines {
  exitCode: number | null
  stdout: string | undefined
  stderr: string
  messages: Loose[]
}

const CONFIG = { token: SECRET }

const CATALOG = { streams: [] as object[] }
const recordings = new Map<SourceCommand, ProgramRun>()
async function recordingOf(command: SourceCommand): Promise<ProgramRun> {
  const known = recordings.get(command)
  if (known !== undefined) return known
  const config = command === 'spec' ? [] : ['--config', CONFIG]
  const catalog = command === 'read' ? await offeredCatalog() : CATALOG
  const words = command === 'read' ? ['--catalog', catalog] : []
  const run = await runConnector(runAirbyte, shop, [command, ...config, ...words])
  const recording = { ...run, catalog, secrets: [SECRET] }
  recordings.set(command, recording)
  return recording
}

async function offeredCatalog() {
  const { stdout } = await recordingOf('discover')
  return (JSON.parse(stdout) as { catalog: { streams: object[] } }).catalog
}

/** The faults of a correct recording after a change. */
async function faultsAfter(
  command: SourceCommand,
  change: (lines: Lines) => void,
  isCut = false,
): Promise<string[]> {
  const run = await recordingOf(command)
  const messages = run.stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Loose)
  const lines: Lines = { ...run, stdout: undefined, messages }
  change(lines)
  const printed = lines.messages.map((message) => `${JSON.stringify(message)}\n`).join('')
  const { exitCode, stderr, stdout = printed } = lines
  return airbyteFaults({ ...run, exitCode, stderr, stdout, isCut }, command)
}

const log = (message: string) => ({ type: 'LOG', log: { level: 'INFO', message } })
const status = (name: string, word: string) => ({
  type: 'TRACE',
  trace: {
    type: 'STREAM_STATUS',
    emitted_at: 1,
    stream_status: { stream_descriptor: { name }, status: word },
  },
})
const error = (failure: string) => ({
  type: 'TRACE',
  trace: { type: 'ERROR', emitted_at: 1, error: { message: 'No.', failure_type: failure } },
})
const first = (lines: Lines, type: string) => lines.messages.find((one) => one.type === type)
const without = (lines: Lines, isGone: (message: Loose) => boolean) => {
  lines.messages = lines.messages.filter((message) => !isGone(message))
}
const isStatus = (word: string) => (message: Loose) => message.trace?.stream_status?.status === word
const states = (lines: Lines) => lines.messages.filter(({ type }) => type === 'STATE')

/** The mistakes of a connector, and a part of the fault that reports each. */
const ofReads: [what: string, change: (lines: Lines) => void, words: string][] = [
  ['sends a message that is none', ({ messages }) => messages.push({ type: 'HELLO' }), '/type'],
  [
    'sends half a record',
    ({ messages }) => messages.push({ type: 'RECORD', record: {} }),
    'stream',
  ],
  [
    'prints its catalog',
    (l) => l.messages.push({ type: 'CATALOG', catalog: { streams: [] } }),
    'answers with a CATALOG',
  ],
  [
    'prints a line that is no message',
    (l) => {
      l.stdout = 'Reading...\n'
    },
    'line 1 is not a JSON object',
  ],
  [
    'ends within a line',
    (l) => {
      l.stdout = '{"type"'
    },
    'the last line has no end',
  ],
  [
    'writes to stderr',
    (l) => {
      l.stderr = 'Reading...\n'
    },
    'wrote to stderr',
  ],
  ['logs its secret', (l) => l.messages.push(log(`token=${SECRET}`)), 'prints a secret'],
  [
    'reads another stream',
    (l) => {
      first(l, 'RECORD').record.stream = 'planets'
    },
    'record of planets',
  ],
  [
    'sends an empty record',
    (l) => {
      first(l, 'RECORD').record.data = {}
    },
    'empty record',
  ],
  [
    'sends a record without its key',
    (l) => {
      first(l, 'RECORD').record.data.isbn = null
    },
    'without its key',
  ],
  [
    'counts seconds',
    (l) => {
      first(l, 'RECORD').record.emitted_at = 1_772_366_400
    },
    'of the time',
  ],
  [
    'sends a record without a cursor',
    (l) => {
      delete first(l, 'RECORD').record.data._ab_cdc_cursor
    },
    'with the cursor undefined',
  ],
  [
    'has a cursor that falls',
    (l) => {
      first(l, 'RECORD').record.data._ab_cdc_cursor *= 2
    },
    'a cursor that falls',
  ],
  [
    'sends a row twice with one cursor',
    (l) => l.messages.splice(l.messages.indexOf(first(l, 'RECORD')), 0, first(l, 'RECORD')),
    'one cursor twice',
  ],
  [
    'sends states of the old form',
    (l) => {
      first(l, 'STATE').state.type = 'LEGACY'
    },
    'state of type LEGACY',
  ],
  [
    'counts one record too many',
    (l) => {
      first(l, 'STATE').state.sourceStats.recordCount++
    },
    'a state counts',
  ],
  [
    'sends a state of another stream',
    (l) => {
      first(l, 'STATE').state.stream.stream_descriptor.name = 'planets'
    },
    'a state of planets',
  ],
  [
    'repeats a state',
    (l) => {
      for (const { state } of states(l)) state.stream.stream_state = {}
    },
    'the same state',
  ],
  ['sends no state', (l) => without(l, ({ type }) => type === 'STATE'), 'complete without a state'],
  [
    'sends a record after the last state',
    (l) => l.messages.splice(l.messages.findIndex(isStatus('COMPLETE')), 0, first(l, 'RECORD')),
    'records after the last state',
  ],
  [
    'has traces without a time',
    (l) => {
      first(l, 'TRACE').trace.emitted_at = 0
    },
    'trace without a time',
  ],
  [
    'does not say that a stream began',
    (l) => without(l, isStatus('STARTED')),
    'outside of its run',
  ],
  ['does not say that a stream ended', (l) => without(l, isStatus('COMPLETE')), 'statuses STARTED'],
  [
    'does not say that a stream runs',
    (l) => without(l, isStatus('RUNNING')),
    'complete without RUNNING',
  ],
  [
    'sends a record after the end',
    (l) => l.messages.push(first(l, 'RECORD')),
    'outside of its run',
  ],
  [
    'has a status of another stream',
    (l) => l.messages.push(status('planets', 'STARTED')),
    'a status of planets',
  ],
  [
    'gives two reasons for waiting',
    (l) => {
      l.messages.find(isStatus('RUNNING')).trace.stream_status.reasons = [
        { type: 'RATE_LIMITED' },
        { type: 'RATE_LIMITED' },
      ]
    },
    'with reasons',
  ],
  [
    'claims success after an error',
    (l) => l.messages.push(error('system_error')),
    'exit code 0 after a failure',
  ],
  [
    'fails without a word',
    (l) => {
      l.exitCode = 3
    },
    'without an error that says why',
  ],
  [
    'reports an error before it has read',
    (l) => l.messages.unshift(error('system_error')),
    'an error before records',
  ],
  [
    'reports a config error first',
    (l) => l.messages.push(error('config_error'), error('transient_error')),
    'a config_error before',
  ],
]

describe('a read', () => {
  it.each(ofReads)('that %s breaks a rule', async (_what, change, words) => {
    expect((await faultsAfter('read', change)).join('\n')).toContain(words)
  })

  it('breaks no rule, complete or cut anywhere', async () => {
    const { stdout } = await recordingOf('read')
    expect(await faultsAfter('read', () => {})).toEqual([])
    for (let lines = 0; lines < stdout.split('\n').length; lines++) {
      const cut = await faultsAfter('read', (l) => void l.messages.splice(lines), true)
      expect(cut, `${lines} lines`).toEqual([])
    }
  })
})

describe.each(['spec', 'check', 'discover'] as const)('%s', (command) => {
  it('breaks a rule if it answers twice, never, or with a failure', async () => {
    const twice = await faultsAfter(command, ({ messages }) => messages.push(messages.at(-1)))
    const never = await faultsAfter(command, ({ messages }) => void messages.splice(0))
    const failed = await faultsAfter(command, (lines) => {
      lines.exitCode = 1
    })
    expect([twice.join(), never.join(), failed.join()]).toEqual([
      expect.stringContaining(`${command} gave 2`),
      expect.stringContaining(`${command} gave 0`),
      expect.stringContaining(`with exit code 1`),
    ])
  })
})
