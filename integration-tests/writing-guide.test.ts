import { execFile } from 'node:child_process'
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type Emulator, startEmulator } from '../emulator/emulator.ts'
import { executableOf } from './testing/child.ts'
import { temporaryFolder } from './testing/files.ts'
import { guideBlock } from './testing/guide-block.ts'
import { parseLines } from './testing/run.ts'
import { selecting } from './testing/singer-catalog.ts'

let emulator: Emulator
let folder: ReturnType<typeof temporaryFolder>
beforeEach(async () => {
  const clients = [{ id: 'writer', secret: 'b-secret', scopes: 'all' }] as const
  emulator = await startEmulator({ people: 3, months: 1, clients })
  folder = temporaryFolder()
  symlinkSync(dirname(executableOf('destination-protime')), join(folder.path, 'bin'))
  write('config.json', JSON.stringify(emulator.config()))
})
afterEach(async () => {
  await emulator.close()
  folder.remove()
})

function write(file: string, text: string): void {
  writeFileSync(join(folder.path, file), text)
}

/** Runs lines of the guide in a shell, as a reader does. */
function follow(lines: string) {
  return promisify(execFile)('sh', ['-e', '-c', lines], { cwd: folder.path })
}

it("the guide's commands for Airbyte write what its messages hold, and pass its state on", async () => {
  write('messages.jsonl', guideBlock('jsonl messages.jsonl'))
  write('catalog.json', guideBlock('json catalog.json'))
  await follow(guideBlock('sh airbyte'))
  const written = emulator
    .references('people')
    .filter(({ referenceName }) => referenceName === 'hr')
  expect(written.map(({ externalReference }) => externalReference)).toEqual(['E-1', 'E-2'])
  const said = parseLines(readFileSync(join(folder.path, 'states.jsonl'), 'utf8'))
  expect(said.flatMap(({ state }) => state?.stream.stream_state ?? [])).toEqual([
    { updated_at: '2026-11-01' },
  ])
})

it("the guide's commands for Singer pass a state on", async () => {
  write('references.json', JSON.stringify(selecting(['external_references'])))
  await follow(guideBlock('sh singer'))
  const states = readFileSync(join(folder.path, 'state.jsonl'), 'utf8').trim().split('\n')
  expect(JSON.parse(states.at(-1) ?? '').bookmarks).toHaveProperty('external_references')
})
