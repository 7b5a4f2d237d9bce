import { execFile } from 'node:child_process'
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, expect, it, onTestFinished } from 'vitest'
import { startEmulator } from '../../emulator/emulator.ts'
import { guideBlock, guideBlocks } from '../../scripts/guide-blocks.ts'
import { executableOf } from '../testing/child.ts'
import { temporaryFolder } from '../testing/files.ts'
import { parseLines } from '../testing/run.ts'
import { selecting } from '../testing/singer-messages.ts'
import { openTenant, type WritableTenant } from './tenant.ts'

let tenant: WritableTenant
let folder: ReturnType<typeof temporaryFolder>
beforeEach(async () => {
  tenant = await openTenant()
  folder = temporaryFolder()
  symlinkSync(dirname(executableOf('protime')), join(folder.path, 'bin'))
  write('config.json', JSON.stringify(tenant.emulator.config()))
})
afterEach(async () => {
  await tenant.close()
  folder.remove()
})

function write(file: string, text: string): void {
  writeFileSync(join(folder.path, file), text)
}

function read(file: string): string {
  return readFileSync(join(folder.path, file), 'utf8')
}

/** Runs lines of the guide in a shell, as a reader does, and answers with what they print. */
async function follow(lines: string): Promise<string> {
  const { stdout } = await promisify(execFile)('sh', ['-e', '-c', lines], { cwd: folder.path })
  return stdout
}

it("the guide's protime commands do what it says", async () => {
  write('hr-numbers.jsonl', guideBlock('jsonl hr-numbers.jsonl'))
  const [references = '', named = ''] = guideBlocks('sh protime')
  expect(await follow(references)).toContain('"dryRun":true')
  expect(read('outcomes.jsonl')).toBe(guideBlock('jsonl outcomes.jsonl'))
  expect(tenant.links('people', 'hr-number')).toEqual({ 'E-1042': '1', 'E-1043': '2' })
  expect((await follow(named)).match(/"outcome":"(\w+)"/g)).toEqual([
    '"outcome":"written"',
    '"outcome":"created"',
    '"outcome":"skipped"',
  ])
})

it('the emulator lets its client write after the command of the guide', async () => {
  const emulator = await startEmulator({ people: 2, months: 0, controlPort: 0 })
  onTestFinished(() => emulator.close())
  write('config.json', JSON.stringify(emulator.config()))
  write('hr-numbers.jsonl', guideBlock('jsonl hr-numbers.jsonl'))
  const command = guideBlock('sh emulator')
  await follow(command.replace('http://127.0.0.1:4011', emulator.controlUrl ?? ''))
  await follow(guideBlocks('sh protime')[0] ?? '')
  expect(read('outcomes.jsonl')).toContain('"outcome":"written"')
})

it("the guide's nightly job makes the service equal to the table", async () => {
  for (let id = 1; id <= 6; id++) tenant.emulator.setReference('people', 'hr-number', `E-${id}`, id)
  const rows = [1, 2, 3, 4, 5].map((id) =>
    JSON.stringify({
      collection: 'people',
      name: 'hr-number',
      value: `E-${id}`,
      internalReference: id,
    }),
  )
  // In place of DuckDB's shell, whose rows have this form.
  write('rows.jsonl', rows.join('\n'))
  await follow(`duckdb() { cat rows.jsonl; }\n${guideBlock('sh nightly')}`)
  expect(Object.keys(tenant.links('people', 'hr-number'))).toHaveLength(5)
  expect(tenant.requested('PUT', 'DELETE')).toHaveLength(1)
})

it("the guide's lock keeps a second run from writing", async () => {
  write('wanted.jsonl', guideBlock('jsonl hr-numbers.jsonl'))
  const block = guideBlock('sh flock')
  await expect(follow(`flock protime-write.lock sh -c '${block.trim()}'`)).rejects.toThrow()
  expect(tenant.requested('PUT')).toEqual([])
  await follow(block)
  expect(tenant.requested('PUT')).toHaveLength(2)
})

it("the guide's commands for Airbyte write the records of its messages, and pass on its state", async () => {
  write('messages.jsonl', guideBlock('jsonl messages.jsonl'))
  write('catalog.json', guideBlock('json catalog.json'))
  await follow(guideBlock('sh airbyte'))
  expect(Object.keys(tenant.links('people', 'hr'))).toEqual(['E-1', 'E-2'])
  expect(
    parseLines(read('states.jsonl')).flatMap(({ state }) => state?.stream.stream_state ?? []),
  ).toEqual([{ updated_at: '2026-11-01' }])
})

it("the guide's commands for Singer pass on a state", async () => {
  write('references.json', JSON.stringify(selecting(['external_references'])))
  await follow(guideBlock('sh singer'))
  const states = read('state.jsonl').trim().split('\n')
  expect(JSON.parse(states.at(-1) ?? '').bookmarks).toHaveProperty('external_references')
})
