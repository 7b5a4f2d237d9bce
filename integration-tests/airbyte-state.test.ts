import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Emulator, startEmulator } from '../emulator/emulator.ts'
import { type AirbyteRun, run } from './testing/run.ts'

let emulator: Emulator
beforeEach(async () => {
  emulator = await startEmulator({ people: 3, months: 1 })
})
afterEach(() => emulator.close())

function read(catalog: readonly string[], files: { state?: unknown } = {}): Promise<AirbyteRun> {
  const here = { program: 'source-protime', command: 'read', in: 'process' } as const
  return run({ ...here, config: emulator.config(), catalog, ...files })
}

describe('a state', () => {
  const blobOf = async (stream: string) => (await read([stream])).states(stream).at(-1)
  const message = (name: string, blob: unknown) => ({
    type: 'STREAM',
    stream: { stream_descriptor: { name }, stream_state: blob },
  })

  it.each([
    ['a list of STREAM messages', (blob: unknown) => [message('jobs', blob)]],
    [
      'one with a namespace of null',
      (blob: unknown) => [
        {
          type: 'STREAM',
          stream: { stream_descriptor: { name: 'jobs', namespace: null }, stream_state: blob },
        },
      ],
    ],
    [
      'one with counts',
      (blob: unknown) => [{ ...message('jobs', blob), sourceStats: { recordCount: 3 } }],
    ],
    [
      'a GLOBAL message',
      (blob: unknown) => [
        {
          type: 'GLOBAL',
          global: { shared_state: {}, stream_states: [message('jobs', blob).stream] },
        },
      ],
    ],
    ['a LEGACY message', (blob: unknown) => [{ type: 'LEGACY', data: { jobs: blob } }]],
    ['a message without a type', (blob: unknown) => [{ data: { jobs: blob } }]],
    ['a bare object', (blob: unknown) => ({ jobs: blob })],
    ['a single message', (blob: unknown) => message('jobs', blob)],
    [
      'a STATE message of the output',
      (blob: unknown) => ({ type: 'STATE', state: message('jobs', blob) }),
    ],
    [
      'one beside states of unknown streams',
      (blob: unknown) => [message('gone', { a: 1 }), message('jobs', blob)],
    ],
  ])('as %s continues where the last sync ended', async (_name, form) => {
    const state = form(await blobOf('jobs'))
    const [row] = emulator.all('jobs')
    emulator.update('jobs', row?.['id'] as number, { name: { default: 'Another' } })
    const result = await read(['jobs'], { state })
    expect(result.errors).toEqual([])
    expect(result.records('jobs').map(({ id }) => id)).toEqual([row?.['id']])
  })

  it.each([
    ['an empty file', ''],
    ['an empty list', []],
    ['null', null],
    ['an empty object', {}],
    ['a blob of null', [message('jobs', null)]],
    ['an empty blob', [message('jobs', {})]],
    ['no blob', [{ type: 'STREAM', stream: { stream_descriptor: { name: 'jobs' } } }]],
  ])('as %s means the beginning, without a warning', async (_name, state) => {
    const result = await read(['jobs'], { state })
    expect(result.errors).toEqual([])
    expect(result.records('jobs')).toHaveLength(emulator.all('jobs').length)
    expect(result.logs.filter((log) => log.startsWith('WARN'))).toEqual([])
  })
})
