import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { ConnectorError } from '../../src/ground/errors.ts'
import { airbyteFaults, type SourceCommand } from '../../src/protocol/acceptance/airbyte-faults.ts'
import type { ProgramRun, SingerMessage } from '../../src/protocol/acceptance/messages.ts'
import { singerFaults } from '../../src/protocol/acceptance/singer-faults.ts'
import { runAirbyte } from '../../src/protocol/airbyte/entrypoint.ts'
import type { Connector, Source, Stamp, StreamOutput } from '../../src/protocol/connector.ts'
import { runSinger } from '../../src/protocol/singer/tap.ts'
import { createJsonBatch, DELETE, type RecordBatch } from '../../src/records/record-batch.ts'
import { configuredCatalog, temporaryFolder } from '../testing/files.ts'
import { parseLines, runConnector } from '../testing/run.ts'

const integers = { type: 'object', properties: { id: { type: 'integer' } } } as const

type Catalog = NonNullable<ProgramRun['catalog']>

interface Config {
  readonly numbers: readonly number[]
}
type Read = Source<Config>['read']

// A source of another kind: what a connector needs besides the protocol library.
const numbers: Connector<Config> = {
  name: 'numbers',
  version: '1.2.3',
  description: 'Reads a list of numbers.',
  spec: { connectionSpecification: { type: 'object', properties: { numbers: {} } } },
  load: async () => ({
    configure: (input) => input as { numbers: number[] },
    streams: () => [{ name: 'numbers', schema: integers, key: ['id'], isIncremental: true }],
    check: async ({ numbers }) => ({ isUsable: numbers.length > 0, message: 'A list.' }),
    async read({ numbers }, requests, { keptStates = [] }) {
      const stamp = { generation: 1, cursor: 1, now: new Date() }
      for (const { output } of requests) {
        output.started(() => ({ count: numbers.length, kept: keptStates.length }))
        await output.records(createJsonBatch(numbers.map((n) => ({ json: `{"id":${n}}` }))), stamp)
        await output.complete()
      }
    },
  }),
}

/** Runs a program of the source in this process. */
const run = (
  program: typeof runAirbyte | typeof runSinger,
  words: readonly (string | object)[],
  connector = numbers,
) => runConnector(program, connector, words)

const CONFIG = { numbers: [3, 1, 2] }

describe('a source of another kind, over the Airbyte protocol', () => {
  /** Runs a command, and checks the rules of the protocol. */
  async function airbyte(
    command: SourceCommand,
    words: readonly (string | object)[] = [],
    catalog: Catalog = { streams: [] },
  ) {
    const recording = await run(runAirbyte, [command, ...words])
    expect(airbyteFaults({ ...recording, catalog }, command)).toEqual([])
    return { ...recording, messages: parseLines(recording.stdout) }
  }

  it('prints its specification', async () => {
    const { messages } = await airbyte('spec')
    expect(messages).toEqual([{ type: 'SPEC', spec: numbers.spec }])
  })

  it.each([
    [CONFIG, 'SUCCEEDED'],
    [{ numbers: [] }, 'FAILED'],
  ])('checks %j', async (config, status) => {
    const { messages } = await airbyte('check', ['--config', config])
    expect(messages.map(({ connectionStatus }) => connectionStatus?.status)).toEqual([status])
  })

  it('is read with the catalog that it prints', async () => {
    const discovered = await airbyte('discover', ['--config', CONFIG])
    const catalog = discovered.messages[0]?.catalog ?? { streams: [] }
    const files = ['--config', CONFIG, '--catalog', catalog]
    const { messages } = await airbyte('read', files, catalog)
    const data = messages.flatMap(({ record }) => (record ? [record.data['id']] : []))
    const states = messages.flatMap(({ state }) => (state ? [state.stream.stream_state] : []))
    expect([data, states]).toEqual([[3, 1, 2], [{ count: 3, kept: 0 }]])
  })

  it('gets the states of streams that are not read, which the platform keeps', async () => {
    const state = ['letters', 'numbers'].map((name) => ({
      type: 'STREAM',
      stream: { stream_descriptor: { name }, stream_state: { count: 1 } },
    }))
    const catalog = configuredCatalog(['numbers'])
    const files = ['--config', CONFIG, '--catalog', catalog, '--state', state]
    const { messages } = await airbyte('read', files, catalog)
    const states = messages.flatMap(({ state }) => (state ? [state.stream.stream_state] : []))
    expect(states).toEqual([{ count: 3, kept: 1 }])
  })

  it('fails for a stream that it does not have, and reads the others', async () => {
    const catalog = configuredCatalog(['letters', 'numbers'])
    const files = ['--config', CONFIG, '--catalog', catalog]
    const { messages } = await airbyte('read', files, catalog)
    const errors = messages.flatMap(({ trace }) => (trace?.error ? [trace.error.message] : []))
    expect(errors).toEqual([
      'letters: There is no stream of this name. To see which streams there are, refresh the schema of the connection. [unknown-stream]',
    ])
  })
})

describe('a source of another kind, over Singer', () => {
  it('is synced with the catalog that it prints', async () => {
    const { stdout: discovered } = await run(runSinger, ['--discover'])
    const catalog = JSON.parse(discovered) as object
    const recording = await run(runSinger, ['--config', CONFIG, '--catalog', catalog])
    const messages = parseLines<SingerMessage>(recording.stdout)
    const faults = singerFaults(recording)
    expect([recording.exitCode, faults]).toEqual([0, []])
    const data = messages.flatMap((message) =>
      message.type === 'RECORD' ? [message.record['id']] : [],
    )
    const last = messages.at(-1)
    expect([data, last?.type === 'STATE' && last.value.bookmarks]).toEqual([
      [3, 1, 2],
      { numbers: { count: 3, kept: 0 } },
    ])
  })

  it('has a line for each stream and metrics, although it reports no progress', async () => {
    const folder = temporaryFolder()
    onTestFinished(folder.remove)
    const file = join(folder.path, 'numbers.prom')
    const env = { TAP_NUMBERS_LOG_LEVEL: 'info' }
    const words = ['--config', CONFIG, '--metrics', file]
    const { stderr } = await runConnector(runSinger, numbers, words, { env })
    expect(stderr).toMatch(
      /INFO numbers: 3 records in \d+\.\d s, from the beginning: first sync\.\n/,
    )
    expect(readFileSync(file, 'utf8')).toMatch(
      /^numbers_sync_stream_rows\{program="tap-numbers",stream="numbers"\} 3$/m,
    )
  })

  it('gets the bookmarks of streams that are not read', async () => {
    const state = { bookmarks: { letters: { count: 1 }, numbers: { count: 1 } } }
    const { stdout } = await run(runSinger, ['--config', CONFIG, '--state', state])
    const last = parseLines<SingerMessage>(stdout).at(-1)
    expect(last?.type === 'STATE' && last.value.bookmarks).toEqual({
      letters: { count: 1 },
      numbers: { count: 3, kept: 1 },
    })
  })

  it('derives its name and its variables from its own name', async () => {
    const { stdout } = await run(runSinger, ['--version'])
    const { stderr } = await run(runSinger, [])
    expect([stdout, stderr]).toEqual([
      'tap-numbers v1.2.3\n',
      'ERROR The option --config is missing: name the file with the settings. (config) [config-missing]\n',
    ])
  })

  it('refuses the state of its other program', async () => {
    const state = [{ type: 'STREAM', stream: { stream_descriptor: { name: 'numbers' } } }]
    const { exitCode, stderr } = await run(runSinger, ['--config', CONFIG, '--state', state])
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining('source-numbers')])
  })
})

describe('a source that breaks the rules', () => {
  const STAMP: Stamp = { generation: 1, cursor: 1, now: new Date() }
  const ENDED = ['STARTED', 'INCOMPLETE']

  /** The same source, which reads in another way. */
  function reading(read: Read, spec: object = {}): Connector<Config> {
    return {
      ...numbers,
      async load() {
        const source = await numbers.load()
        const streams = () => source.streams().map((stream) => ({ ...stream, ...spec }))
        return { ...source, streams, read }
      },
    }
  }

  /** What becomes of it over both protocols: exit codes, the statuses of the stream, and errors. */
  async function outcomeOf(connector: Connector<Config>) {
    const catalog = configuredCatalog(['numbers'])
    const words = ['read', '--config', CONFIG, '--catalog', catalog]
    const airbyte = await run(runAirbyte, words, connector)
    const singer = await run(runSinger, ['--config', CONFIG], connector)
    const messages = parseLines(airbyte.stdout)
    expect(airbyteFaults({ ...airbyte, catalog }, 'read')).toEqual([])
    expect(singerFaults(singer)).toEqual([])
    return {
      exitCodes: [airbyte.exitCode, singer.exitCode],
      statuses: messages.flatMap(({ trace }) => trace?.stream_status?.status ?? []),
      errors: messages.flatMap(({ trace }) => (trace?.error ? [trace.error.message] : [])),
      failures: messages.flatMap(({ trace }) => trace?.error?.failure_type ?? []),
      log: singer.stderr,
      told: messages.flatMap(({ log }) => log?.message ?? []),
      records: messages.filter(({ type }) => type === 'RECORD').length,
      singerRecords: parseLines<SingerMessage>(singer.stdout).filter(
        ({ type }) => type === 'RECORD',
      ),
    }
  }

  it('has a line in the log for the stream that it does not end, too', async () => {
    const { told } = await outcomeOf(
      reading(async (_config, [request]) => {
        request?.output.started()
        throw new ConnectorError('transient', 'x-away', 'The numbers are away.')
      }),
    )
    expect(told).toContainEqual(
      expect.stringMatching(/^numbers: failed after no records in \d+\.\d s\.$/),
    )
  })

  it.each<[what: string, read: Read]>([
    ['does nothing at all', async () => {}],
    [
      'begins a stream and does not end it',
      async (_config, [request]) => {
        request?.output.started(() => ({}))
      },
    ],
  ])('fails where it %s', async (_what, read) => {
    const { exitCodes, statuses, errors, failures, log } = await outcomeOf(reading(read))
    expect([exitCodes, statuses, failures]).toEqual([[1, 1], ENDED, ['system_error']])
    expect(errors).toEqual([expect.stringContaining('numbers: The connector ended')])
    expect(log).toContain('numbers: The connector ended')
  })

  it.each([true, false])(
    'has one failure for a stream that failed, started or not (%s)',
    async (isStarted) => {
      const read: Read = async (_config, requests) => {
        for (const { output } of requests) {
          if (isStarted) output.started(() => ({}))
          await output.failed(new ConnectorError('transient', 'x-later', 'Later.'))
        }
      }
      const { exitCodes, statuses, errors } = await outcomeOf(reading(read))
      expect([exitCodes, statuses, errors]).toEqual([[1, 1], ENDED, ['numbers: Later. [x-later]']])
    },
  )

  it('has one failure of all streams if it throws one, also where it told it to a stream before', async () => {
    const read: Read = async (_config, [request]) => {
      const error = new ConnectorError('transient', 'x-later', 'Later.')
      await request?.output.failed(error)
      throw error
    }
    const { exitCodes, statuses, errors } = await outcomeOf(reading(read))
    expect([exitCodes, statuses, errors]).toEqual([[1, 1], ENDED, ['Later. [x-later]']])
  })

  it('fails if it passes records on after the end of their stream', async () => {
    const read: Read = async (_config, [request]) => {
      request?.output.started(() => ({}))
      await request?.output.complete()
      await Promise.resolve()
        .then(() => request?.output.records(ofOne, STAMP))
        .catch(() => {})
    }
    const { exitCodes, errors, records } = await outcomeOf(reading(read))
    expect([exitCodes, records]).toEqual([[1, 1], 0])
    expect(errors).toEqual([expect.stringContaining('it has ended already')])
  })

  it('ends its streams if it throws, and reports what it threw', async () => {
    const read: Read = async (_config, [request]) => {
      request?.output.started(() => ({}))
      throw new Error('a bug')
    }
    const { exitCodes, statuses, errors } = await outcomeOf(reading(read))
    expect([exitCodes, statuses]).toEqual([[1, 1], ENDED])
    expect(errors).toEqual([
      'Unexpected error in the connector: a bug. This is a fault of the connector: report it. [unexpected]',
    ])
  })

  const handing = (json: string) => (output: StreamOutput) =>
    output.records(createJsonBatch([{ json: '{"id":1}' }, { json }]), STAMP)
  const ofOne = createJsonBatch([{ json: '{"id":1}' }])
  const stamped = (stamp: Partial<Stamp>) => (output: StreamOutput) =>
    output.records(ofOne, { ...STAMP, ...stamp })

  it.each<[what: string, hand: (output: StreamOutput) => unknown, words: string]>([
    ['an empty record', handing('{}'), 'record 2 of 2 is not one JSON object on one line'],
    ['a record on three lines', handing('{\n"id":1\n}'), 'record 2 of 2'],
    ['a record with a space behind it', handing('{"id":1} '), 'record 2 of 2'],
    ['two records in one', handing('{"id":1}{"id":2}'), 'record 2 of 2'],
    ['a list', handing('[{"id":1}]'), 'record 2 of 2'],
    ['no JSON', handing('{"id":}'), 'record 2 of 2'],
    [
      'a batch made by hand',
      (output) => output.records({ ...ofOne, fault: undefined } as unknown as RecordBatch, STAMP),
      'its batch is of an unknown kind',
    ],
    ['no generation', stamped({ generation: Number.NaN }), 'its generation NaN'],
    ['a generation beyond 32 bits', stamped({ generation: 2 ** 33 }), 'its generation 8589934592'],
    ['a cursor with a fraction', stamped({ cursor: 0.5 }), 'its cursor 0.5'],
    ['no time', stamped({ now: new Date(Number.NaN) }), 'its time is not valid'],
    ['a deleted row, unannounced', (output) => output.deletes(['"id":1'], STAMP), 'hasDeletes'],
    [
      'a deleted record, unannounced',
      (output) => {
        const batch = createJsonBatch([{ json: '{"id":1}' }])
        batch.ops[0] = DELETE
        return output.records(batch, STAMP)
      },
      'hasDeletes',
    ],
    [
      'a generation, unannounced',
      (output) => output.note({ type: 'generation complete', generation: 1 }),
      'hasGenerations',
    ],
  ])('passes nothing on of %s', async (_what, hand, words) => {
    const read: Read = async (_config, [request]) => {
      const output = request?.output as StreamOutput
      output.started(() => ({}))
      await hand(output)
      await output.complete()
    }
    const { exitCodes, statuses, errors, records, singerRecords } = await outcomeOf(reading(read))
    expect([exitCodes, statuses, records, singerRecords]).toEqual([[1, 1], ENDED, 0, []])
    expect(errors).toEqual([expect.stringContaining(words)])
    expect(errors).toEqual([expect.stringContaining('for numbers is not valid')])
  })

  it.each(['"id":', '7', '"id":1\n', '"id":1},{"id":2', ''])(
    'passes nothing on of a deleted row whose key is %j',
    async (key) => {
      const read: Read = async (_config, [request]) => {
        request?.output.started(() => ({}))
        await request?.output.deletes(['"id":1', key], STAMP)
      }
      const { errors, records } = await outcomeOf(reading(read, { hasDeletes: true }))
      expect([records, errors]).toEqual([0, [expect.stringContaining('a deleted row')]])
    },
  )

  it('cannot complete a stream after it ignored a refused call', async () => {
    const read: Read = async (_config, [request]) => {
      const output = request?.output as StreamOutput
      output.started(() => ({}))
      await Promise.resolve()
        .then(() => handing('{}')(output))
        .catch(() => {})
      await Promise.resolve()
        .then(() => output.complete())
        .catch(() => {})
    }
    const { exitCodes, statuses, errors } = await outcomeOf(reading(read))
    expect([exitCodes, statuses]).toEqual([[1, 1], ENDED])
    expect(errors).toEqual([expect.stringContaining('record 2 of 2')])
  })

  it('gets no state of a stream that is not incremental, whatever is requested', async () => {
    const seen: unknown[] = []
    const read: Read = async (_config, requests) => {
      for (const { mode, state, output } of requests) {
        seen.push([mode, state])
        output.started()
        await output.complete()
      }
    }
    const stream = { stream_descriptor: { name: 'numbers' }, stream_state: { count: 3 } }
    const files = ['--config', CONFIG, '--state', [{ type: 'STREAM', stream }]]
    const words = ['read', ...files, '--catalog', configuredCatalog(['numbers'])]
    for (const isIncremental of [true, false])
      await run(runAirbyte, words, reading(read, { isIncremental }))
    expect(seen).toEqual([
      ['incremental', { count: 3 }],
      ['full_refresh', undefined],
    ])
  })
})
