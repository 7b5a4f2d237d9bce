import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { runAirbyte } from '../src/protocol/airbyte/entrypoint.ts'
import type { Connector } from '../src/protocol/connector.ts'
import { runSinger } from '../src/protocol/singer/tap.ts'
import { createJsonBatch } from '../src/records/record-batch.ts'
import { airbyteFaults, type Expected } from './testing/airbyte-rules.ts'
import { configuredCatalog } from './testing/files.ts'
import { createCollector } from './testing/output.ts'
import { parseLines } from './testing/run.ts'
import { type SingerMessage, singerFaults } from './testing/singer-rules.ts'

const integers = { type: 'object', properties: { id: { type: 'integer' } } } as const

// A source of another kind: what a connector needs besides the protocol library.
const numbers: Connector<{ readonly numbers: readonly number[] }> = {
  name: 'numbers',
  version: '1.2.3',
  description: 'Reads a list of numbers.',
  spec: { connectionSpecification: { type: 'object', properties: { numbers: {} } } },
  load: async () => ({
    configure: (input) => input as { numbers: number[] },
    streams: () => [{ name: 'numbers', schema: integers, key: ['id'] }],
    check: async ({ numbers }) => ({ isUsable: numbers.length > 0, message: 'A list.' }),
    async read({ numbers }, requests, { keptStates = [] }) {
      const stamp = { generation: 1, cursor: 1, now: new Date() }
      for (const { output } of requests) {
        output.started(() => ({ count: numbers.length, kept: keptStates.length }))
        await output.records(createJsonBatch(numbers.map((n) => ({ json: `{"id":${n}}` }))), stamp)
        await output.complete()
      }
      return []
    },
  }),
}

/** Runs a program of the source in this process; objects are written to files. */
async function run(
  program: typeof runAirbyte | typeof runSinger,
  words: readonly (string | object)[],
) {
  const folder = mkdtempSync(join(tmpdir(), 'numbers-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const argv = words.map((word, i) => {
    if (typeof word === 'string') return word
    const file = join(folder, `${i}.json`)
    writeFileSync(file, JSON.stringify(word))
    return file
  })
  const [stdout, stderr] = [createCollector(), createCollector()]
  const exitCode = await program(argv, numbers, { stdout, stderr, env: {} })
  return { exitCode, stdout: stdout.text(), stderr: stderr.text() }
}

const CONFIG = { numbers: [3, 1, 2] }

describe('a source of another kind, over the Airbyte protocol', () => {
  /** Runs a command, and checks the rules of the protocol. */
  async function airbyte(
    command: Expected['command'],
    words: readonly (string | object)[] = [],
    streams: readonly string[] = [],
  ) {
    const recording = await run(runAirbyte, [command, ...words])
    const messages = parseLines(recording.stdout)
    const faults = airbyteFaults({ ...recording, messages }, { command, streams, isCut: false })
    expect(faults).toEqual([])
    return { ...recording, messages }
  }

  it('tells its specification', async () => {
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

  it('is read with the catalog that it tells', async () => {
    const discovered = await airbyte('discover', ['--config', CONFIG])
    const catalog = discovered.messages[0]?.catalog ?? {}
    const files = ['--config', CONFIG, '--catalog', catalog]
    const { messages } = await airbyte('read', files, ['numbers'])
    const data = messages.flatMap(({ record }) => (record ? [record.data['id']] : []))
    const states = messages.flatMap(({ state }) => (state ? [state.stream.stream_state] : []))
    expect([data, states]).toEqual([[3, 1, 2], [{ count: 3, kept: 0 }]])
  })

  it('is told of the states of streams that are not read, which the platform keeps', async () => {
    const state = ['letters', 'numbers'].map((name) => ({
      type: 'STREAM',
      stream: { stream_descriptor: { name }, stream_state: { count: 1 } },
    }))
    const files = [
      '--config',
      CONFIG,
      '--catalog',
      configuredCatalog(['numbers']),
      '--state',
      state,
    ]
    const { messages } = await airbyte('read', files, ['numbers'])
    const states = messages.flatMap(({ state }) => (state ? [state.stream.stream_state] : []))
    expect(states).toEqual([{ count: 3, kept: 1 }])
  })

  it('fails for a stream that it does not have, and reads the others', async () => {
    const catalog = configuredCatalog(['letters', 'numbers'])
    const files = ['--config', CONFIG, '--catalog', catalog]
    const { messages } = await airbyte('read', files, ['letters', 'numbers'])
    const errors = messages.flatMap(({ trace }) => (trace?.error ? [trace.error.message] : []))
    expect(errors).toEqual([
      'letters: There is no stream of this name. Discover the streams again.',
    ])
  })
})

describe('a source of another kind, over Singer', () => {
  it('is synced with the catalog that it tells', async () => {
    const { stdout: discovered } = await run(runSinger, ['--discover'])
    const catalog = JSON.parse(discovered) as object
    const recording = await run(runSinger, ['--config', CONFIG, '--catalog', catalog])
    const messages = parseLines<SingerMessage>(recording.stdout)
    const faults = singerFaults({ ...recording, messages }, { config: CONFIG, isCut: false })
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

  it('is told of the bookmarks of streams that are not read', async () => {
    const state = { bookmarks: { letters: { count: 1 }, numbers: { count: 1 } } }
    const { stdout } = await run(runSinger, ['--config', CONFIG, '--state', state])
    const last = parseLines<SingerMessage>(stdout).at(-1)
    expect(last?.type === 'STATE' && last.value.bookmarks).toEqual({
      letters: { count: 1 },
      numbers: { count: 3, kept: 1 },
    })
  })

  it('tells its name and its variables by its own name', async () => {
    const { stdout } = await run(runSinger, ['--version'])
    const { stderr } = await run(runSinger, [])
    expect([stdout, stderr]).toEqual([
      'tap-numbers v1.2.3\n',
      'ERROR The option --config is missing: name the file with the settings. (config)\n',
    ])
  })

  it('does not take the state of its other program', async () => {
    const state = [{ type: 'STREAM', stream: { stream_descriptor: { name: 'numbers' } } }]
    const { exitCode, stderr } = await run(runSinger, ['--config', CONFIG, '--state', state])
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining('source-numbers')])
  })
})
