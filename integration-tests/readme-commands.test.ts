import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type Emulator, startEmulator } from '../emulator/emulator.ts'
import { streams } from '../src/streams/streams.ts'
import type { Message } from './testing/airbyte-messages.ts'
import { executableOf } from './testing/child.ts'
import { ask } from './testing/protime.ts'
import { parseLines } from './testing/run.ts'
import { createWarehouse, differences } from './testing/warehouse.ts'

const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8')
const [, section = ''] = readme.split('## Use it with Airbyte\n')
const blocks = [...(section.split('\n## ')[0] ?? '').matchAll(/```(\w+)\n(.*?)```/gs)].map(
  ([, language, text = '']) => ({ language, text }),
)
const [firstSync = '', nextSync = ''] = blocks
  .filter(({ language, text }) => language === 'sh' && text.includes('bin/source-protime'))
  .map(({ text }) => text)
const catalog = blocks.find(({ text }) => text.includes('"sync_mode"'))?.text ?? ''

let emulator: Emulator
let folder: string
beforeEach(async () => {
  emulator = await startEmulator({ people: 3, months: 1 })
  folder = mkdtempSync(join(tmpdir(), 'readme-'))
  symlinkSync(dirname(executableOf('source-protime')), join(folder, 'bin'))
  writeFileSync(join(folder, 'config.json'), JSON.stringify(emulator.config()))
})
afterEach(async () => {
  await emulator.close()
  rmSync(folder, { recursive: true, force: true })
})

/** Runs lines of README in a shell, as a reader does. */
async function follow(lines: string): Promise<Message[]> {
  await promisify(execFile)('sh', ['-e', '-c', lines], { cwd: folder })
  return parseLines(readFileSync(join(folder, 'messages.jsonl'), 'utf8'))
}

it("README's commands for Airbyte load everything, and then what has changed", async () => {
  const warehouse = createWarehouse('highest-cursor')
  const first = await follow(firstSync)
  warehouse.load(first)
  expect(first.flatMap(({ log }) => log?.message ?? [])).toContain(
    `The catalog is the output of discover: all ${streams.size} streams are read, incrementally.`,
  )
  const [person, gone] = emulator.all('people')
  emulator.update('people', person?.['id'] as number, { firstName: 'Zoe' })
  emulator.remove('people', gone?.['id'] as number)
  const next = await follow(nextSync)
  warehouse.load(next)
  expect(next.filter(({ record }) => record?.stream === 'people')).toHaveLength(2)
  for (const [stream, collection] of [
    ['people', 'people'],
    ['clockings', 'clockings'],
    ['sectors', 'sectors'],
  ] as const) {
    expect(differences(stream, warehouse.rows(stream), emulator.all(collection))).toEqual([])
  }
})

it("README's first steps bring a tenant into a DuckDB file", async () => {
  const [, steps = ''] = /```sh\n(bin\/protime init\n.*?)```/s.exec(readme) ?? []
  const { base_url, api_name } = emulator.config()['environment'] as Record<string, string>
  rmSync(join(folder, 'config.json'))
  const child = execFile('sh', ['-e', '-c', steps], { cwd: folder })
  child.stdin?.end(`demo\n${base_url}\n\n${api_name}\nconnector\nemulator-secret\n`)
  expect(await once(child, 'exit')).toEqual([0, null])
  const [counted] = await ask(
    join(folder, 'protime.duckdb'),
    'SELECT count(*)::INTEGER AS n FROM people',
  )
  expect(counted).toEqual({ n: emulator.all('people').length })
})

it("README's configured catalog is one", async () => {
  writeFileSync(join(folder, 'catalog.json'), catalog)
  const commands = firstSync.split('\n').filter((line) => !line.includes('discover'))
  const messages = await follow(commands.join('\n'))
  const read = new Set(messages.flatMap(({ record }) => record?.stream ?? []))
  expect([...read]).toEqual(['people'])
})
