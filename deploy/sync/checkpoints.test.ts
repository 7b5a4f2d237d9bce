import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  type Checkpoint,
  type Checkpoints,
  createCheckpoints,
  type Message,
} from './checkpoints.ts'

let folder: string
let heard: Message[]
let checkpoints: Checkpoints

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'checkpoints-'))
  heard = []
  checkpoints = createCheckpoints({ folder, onMessage: (message) => heard.push(message) })
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const record = (stream: string, id: number) =>
  `{"type":"RECORD","record":{"stream":"${stream}","data":{"id":${id}}}}\n`
const state = (stream: string, n: number) =>
  `{"type":"STATE","state":{"stream":{"stream_descriptor":{"name":"${stream}"},"stream_state":{"n":${n}}}}}\n`
const write = (...lines: string[]) => checkpoints.write(Buffer.from(lines.join('')))
const linesOf = (checkpoint: Checkpoint | undefined, stream: string) =>
  checkpoint?.files
    .get(stream)
    ?.map((file) => readFileSync(file, 'utf8'))
    .join('')

describe('checkpoints', () => {
  it('hold the records before a STATE, and not those after it', () => {
    write(record('jobs', 1), state('jobs', 1), record('jobs', 2))
    const taken = checkpoints.take()
    expect(linesOf(taken, 'jobs')).toBe(record('jobs', 1))
    expect(taken?.records).toBe(1)
    expect(checkpoints.unfinished()).toEqual(['jobs'])
  })

  it('tell streams apart that come in turns', () => {
    write(record('jobs', 1), record('people', 7), record('jobs', 2), state('jobs', 1))
    const taken = checkpoints.take()
    expect(linesOf(taken, 'jobs')).toBe(record('jobs', 1) + record('jobs', 2))
    expect(taken?.files.has('people')).toBe(false)
  })

  it('have the last state of a stream, and every record before it in order', () => {
    write(record('jobs', 1), state('jobs', 1), record('jobs', 2), state('jobs', 2))
    const taken = checkpoints.take()
    expect(linesOf(taken, 'jobs')).toBe(record('jobs', 1) + record('jobs', 2))
    expect(taken?.states.get('jobs')).toMatchObject({ stream: { stream_state: { n: 2 } } })
  })

  it('are taken once', () => {
    write(record('jobs', 1), state('jobs', 1))
    checkpoints.take()
    expect(checkpoints.take()).toBeUndefined()
  })

  it('do not mind where the output is cut', () => {
    const log = '{"type":"LOG","log":{"level":"INFO","message":"x"}}\n'
    const output = Buffer.from(record('jobs', 1) + log + record('jobs', 2) + state('jobs', 1))
    for (const byte of output) checkpoints.write(Buffer.of(byte))
    expect(linesOf(checkpoints.take(), 'jobs')).toBe(record('jobs', 1) + record('jobs', 2))
    expect(heard).toEqual([JSON.parse(log)])
  })
})
