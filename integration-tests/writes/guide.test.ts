import { execFile } from 'node:child_process'
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, expect, it, onTestFinished } from 'vitest'
import { startEmulator } from '../../emulator/emulator.ts'
import { executableOf } from '../testing/child.ts'
import { temporaryFolder } from '../testing/files.ts'
import { openTenant, type WritableTenant } from './tenant.ts'

const guide = readFileSync(new URL('../../docs/writing.md', import.meta.url), 'utf8')
const blocks = [...guide.matchAll(/```(\w+) ([\w.-]+)\n(.*?)```/gs)]

/** The blocks of the guide with this name, in their order. */
function blocksOf(name: string): string[] {
  return blocks.flatMap(([, , of, text = '']) => (of === name ? [text] : []))
}

let tenant: WritableTenant
let folder: ReturnType<typeof temporaryFolder>
beforeEach(async () => {
  tenant = await openTenant()
  folder = temporaryFolder()
  symlinkSync(dirname(executableOf('protime')), join(folder.path, 'bin'))
  writeFileSync(join(folder.path, 'config.json'), JSON.stringify(tenant.emulator.config()))
  writeFileSync(join(folder.path, 'hr-numbers.jsonl'), blocksOf('hr-numbers.jsonl').join(''))
})
afterEach(async () => {
  await tenant.close()
  folder.remove()
})

async function follow(lines: string): Promise<string> {
  const { stdout } = await promisify(execFile)('sh', ['-e', '-c', lines], { cwd: folder.path })
  return stdout
}

it('the commands of the guide do what it says', async () => {
  const [references = '', named = ''] = blocksOf('protime')
  expect(await follow(references)).toContain('"dryRun":true')
  const outcomes = readFileSync(join(folder.path, 'outcomes.jsonl'), 'utf8')
  expect([outcomes]).toEqual(blocksOf('outcomes.jsonl'))
  expect(tenant.links('people', 'hr-number')).toEqual({ 'E-1042': '1', 'E-1043': '2' })
  expect((await follow(named)).match(/"outcome":"(\w+)"/g)).toEqual([
    '"outcome":"written"',
    '"outcome":"created"',
    '"outcome":"skipped"',
  ])
})

it('the emulator lets its client write after the command of the guide', async () => {
  const [command = ''] = blocksOf('emulator')
  const emulator = await startEmulator({ people: 2, months: 0, controlPort: 0 })
  onTestFinished(() => emulator.close())
  writeFileSync(join(folder.path, 'config.json'), JSON.stringify(emulator.config()))
  await follow(command.replace('http://127.0.0.1:4011', emulator.controlUrl ?? ''))
  const [references = ''] = blocksOf('protime')
  expect(await follow(references)).toContain('"outcome":"written"')
})

it('the nightly job of the guide leaves the service as the table is', async () => {
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
  writeFileSync(join(folder.path, 'rows.jsonl'), rows.join('\n'))
  const [nightly = ''] = blocksOf('nightly')
  await follow(`duckdb() { cat rows.jsonl; }\n${nightly}`)
  expect(Object.keys(tenant.links('people', 'hr-number'))).toHaveLength(5)
  expect(tenant.requested('PUT', 'DELETE')).toHaveLength(1)
})
