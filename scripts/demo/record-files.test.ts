import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { createRecordFiles, type Message } from './record-files.ts'

const record = (stream: string, id: number) =>
  `{"type":"RECORD","record":{"stream":"${stream}","emitted_at":1,"data":{"id":${id},"name":"é\\n"}}}\n`
const turned = '{"record":{"data":{"id":3},"stream":"jobs","emitted_at":1},"type":"RECORD"}\n'
const state = '{"type":"STATE","state":{}}\n'
const output = [record('jobs', 1), record('people', 1), state, record('jobs', 2), turned].join('')

let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'records-'))
})

afterEach(() => rmSync(folder, { recursive: true }))

/** Sorts an output that arrives in pieces of so many bytes. */
function sort(text: string, size: number) {
  const counts: Record<string, number> = {}
  const messages: Message[] = []
  const files = createRecordFiles({
    folder,
    onRecords: (stream, count) => {
      counts[stream] = (counts[stream] ?? 0) + count
    },
    onMessage: (message) => messages.push(message),
  })
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += size) files.write(bytes.subarray(at, at + size))
  files.close()
  const content = (stream: string) => readFileSync(files.file(stream) ?? '', 'utf8')
  return { counts, messages, files, content }
}

it.each([1, 2, 7, 100, 10_000])('sorts records by stream from pieces of %i bytes', (size) => {
  const { content, counts } = sort(output, size)
  expect([content('jobs'), content('people'), counts]).toEqual([
    record('jobs', 1) + record('jobs', 2) + turned,
    record('people', 1),
    { jobs: 3, people: 1 },
  ])
})

it('hands every other message to the listener', () => {
  expect(sort(output, 10).messages).toEqual([{ type: 'STATE', state: {} }])
})

it('has no file of a stream without records', () => {
  expect(sort(state, 10).files.file('people')).toBeUndefined()
})

it('refuses an output that ends within a line', () => {
  expect(() => sort(output.slice(0, -1), 10)).toThrow('ends within a line')
})
