import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Emulator, startEmulator } from '../../emulator/emulator.ts'
import { type AirbyteRecording, airbyteFaults, type Expected } from './airbyte-rules.ts'
import { type AirbyteOptions, run } from './run.ts'

const STREAMS = ['people', 'jobs']

// biome-ignore lint/suspicious/noExplicitAny: what is broken on purpose has no type
type Loose = any
interface Lines {
  exitCode: number | null
  stdout: string
  stderr: string
  messages: Loose[]
}

let emulator: Emulator
const recordings: Partial<Record<Expected['command'], AirbyteRecording>> = {}
beforeAll(async () => {
  emulator = await startEmulator({ people: 3, months: 1, pageSize: 2 })
  const config = emulator.config()
  for (const command of ['spec', 'check', 'discover', 'read'] as const) {
    const files: Partial<AirbyteOptions> =
      command === 'spec' ? {} : command === 'read' ? { config, catalog: STREAMS } : { config }
    const { exitCode, stdout, stderr, messages } = await run({
      program: 'source-protime',
      command,
      in: 'process',
      ...files,
    })
    recordings[command] = { exitCode, stdout, stderr, messages }
  }
})
afterAll(() => emulator.close())

/** What is found in a good recording after a change. */
function faultsAfter(
  command: Expected['command'],
  change: (lines: Lines) => void,
  isCut = false,
): string[] {
  const lines = structuredClone(recordings[command]) as Lines
  change(lines)
  const config = emulator.config()
  return airbyteFaults(lines, { command, config, streams: STREAMS, isCut })
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

/** What a connector may do wrong, and words of the rule that notices. */
const ofReads: [what: string, change: (lines: Lines) => void, words: string][] = [
  ['sends a message that is none', ({ messages }) => messages.push({ type: 'HELLO' }), '/type'],
  [
    'prints its catalog',
    (l) => l.messages.push({ type: 'CATALOG', catalog: { streams: [] } }),
    'answers with a CATALOG',
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
  [
    'logs its secret',
    (l) => l.messages.push(log('secret=emulator-secret')),
    'tells the client secret',
  ],
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
      first(l, 'RECORD').record.data.id = null
    },
    'without its key',
  ],
  [
    'counts seconds',
    (l) => {
      first(l, 'RECORD').record.emitted_at /= 1000
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
  it.each(ofReads)('that %s breaks a rule', (_what, change, words) => {
    expect(faultsAfter('read', change).join('\n')).toContain(words)
  })

  it('breaks none, whole or cut anywhere', () => {
    const { messages = [] } = recordings.read ?? {}
    expect(faultsAfter('read', () => {})).toEqual([])
    for (let lines = 0; lines < messages.length; lines++) {
      const cut = faultsAfter('read', (l) => void l.messages.splice(lines), true)
      expect(cut, `${lines} lines`).toEqual([])
    }
  })
})

describe.each(['spec', 'check', 'discover'] as const)('%s', (command) => {
  it('breaks a rule when it answers twice, never, or with a failure', () => {
    const twice = faultsAfter(command, ({ messages }) => messages.push(messages.at(-1)))
    const never = faultsAfter(command, ({ messages }) => void messages.splice(0))
    const failed = faultsAfter(command, (lines) => {
      lines.exitCode = 1
    })
    expect([twice.join(), never.join(), failed.join()]).toEqual([
      expect.stringContaining(`${command} gave 2`),
      expect.stringContaining(`${command} gave 0`),
      expect.stringContaining(`with exit code 1`),
    ])
  })
})
