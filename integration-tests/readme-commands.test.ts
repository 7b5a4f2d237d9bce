import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type Emulator, startEmulator } from '../emulator/emulator.ts'
import { guideBlock, guideBlocks } from '../scripts/guide-blocks.ts'
import type { Message } from '../src/protocol/acceptance/messages.ts'
import { streams } from '../src/streams/streams.ts'
import { executableOf } from './testing/child.ts'
import { ask } from './testing/protime.ts'
import { parseLines } from './testing/run.ts'
import { createWarehouse, differences } from './testing/warehouse.ts'

const GUIDE = 'docs/user-guide.md'
const [firstSync, nextSync] = [guideBlock('sh first', GUIDE), guideBlock('sh next', GUIDE)]
const catalog = guideBlocks('json', GUIDE).find((text) => text.includes('"sync_mode"')) ?? ''

let emulator: Emulator
let folder: string
beforeEach(async () => {
  emulator = await startEmulator({ people: 3, months: 1 })
  folder = mkdtempSync(join(tmpdir(), 'readme-'))
  writeFileSync(join(folder, 'config.json'), JSON.stringify(emulator.config()))
})
afterEach(async () => {
  await emulator.close()
  rmSync(folder, { recursive: true, force: true })
})

/** Runs lines of the documents in a shell, as a reader does who has installed the package. */
function shell(lines: string) {
  const PATH = `${dirname(executableOf('source-protime'))}:${process.env['PATH']}`
  return promisify(execFile)('sh', ['-e', '-c', lines], {
    cwd: folder,
    env: { ...process.env, PATH },
  })
}

async function follow(lines: string): Promise<Message[]> {
  await shell(lines)
  return parseLines(readFileSync(join(folder, 'messages.jsonl'), 'utf8'))
}

it("the user's guide's commands without a platform load everything, and then what has changed", async () => {
  const warehouse = createWarehouse('highest-cursor')
  const first = await follow(firstSync)
  warehouse.load(first)
  expect(first.flatMap(({ log }) => log?.message ?? [])).toContain(
    `The catalog is the output of discover: all ${streams.size + 1} streams are read, incrementally.`,
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

it("README's two lines bring a tenant into a DuckDB file", async () => {
  const steps = guideBlock('sh npx', 'README.md')
  const installed = steps.replaceAll('npx -y -p source-protime -p @duckdb/node-api ', '')
  expect(installed).toBe('protime init\nprotime sync\n')
  const { base_url, api_name } = emulator.config()['environment'] as Record<string, string>
  rmSync(join(folder, 'config.json'))
  const running = shell(installed)
  running.child.stdin?.end(`demo\n${base_url}\n\n${api_name}\nconnector\nemulator-secret\n`)
  await running
  const [counted] = await ask(
    join(folder, 'protime.duckdb'),
    'SELECT count(*)::INTEGER AS n FROM people',
  )
  expect(counted).toEqual({ n: emulator.all('people').length })
})

it("the user's guide's configured catalog is one", async () => {
  writeFileSync(join(folder, 'catalog.json'), catalog)
  const commands = firstSync.split('\n').filter((line) => !line.includes('discover'))
  const messages = await follow(commands.join('\n'))
  const read = new Set(messages.flatMap(({ record }) => record?.stream ?? []))
  expect([...read]).toEqual(['people'])
})
