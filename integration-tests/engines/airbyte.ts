import { spawn } from 'node:child_process'
import { copyFileSync, createWriteStream, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { startEmulator } from '../../emulator/emulator.ts'
import { guideBlock } from '../../scripts/guide-blocks.ts'
import type { Engine, Tools } from './engine.ts'
import { startTenant } from './tenant.ts'

const GOOD = 'secrets/config.json'

/** One test of FAST for one configuration. */
interface TestOutcome {
  readonly test: string
  readonly config: string
  readonly outcome: 'passed' | 'failed' | 'skipped'
  readonly text: string
}

/** What a good configuration must pass; the image tests need a Docker engine and are left out. */
const TESTS = [
  'test_config_matches_spec',
  'test_check',
  'test_discover',
  'test_basic_read',
  'test_fail_read_with_bad_catalog',
]

/** Airbyte's own test suite, by the seam that lets it run any executable. */
export const fast: Engine = {
  name: 'fast',
  requirements: ['airbyte-cdk[dev]==7.39.1', 'airbyte-connector-models==0.1.12', 'pytest==7.4.4'],
  async run({ executable, projectFolder, folder, python, step }) {
    for (const file of ['metadata.yaml', 'metadata-destination.yaml'])
      await step(`${file} is one`, () =>
        python('airbyte_models.py', ['metadata', join(projectFolder, file)]),
      )
    const { emulator, config } = await startTenant()
    try {
      const root = join(folder, 'source-protime')
      writeJson(join(root, GOOD), config)
      writeJson(join(root, 'secrets/wrong-secret.json'), { ...config, client_secret: 'wrong-1234' })
      const environment = { type: 'custom' }
      writeJson(join(root, 'secrets/invalid-config.json'), { ...config, environment })
      const list = 'acceptance-test-config.yml'
      copyFileSync(join(projectFolder, list), join(root, list))
      const outcomes = await step('ran', async () => {
        const answer = await python('fast.py', [executable, root])
        return JSON.parse(answer.trim().split('\n').at(-1) ?? '') as TestOutcome[]
      })
      for (const { test, config: path, outcome, text } of outcomes ?? []) {
        // What the file does not list for a configuration is skipped for it.
        if (outcome === 'skipped' && path !== 'config') continue
        await step(`${test} ${path}`.trim(), async () => {
          if (outcome !== 'passed') throw new Error(`${outcome}: ${text}`)
        })
      }
      await step('left nothing out', async () => {
        const passed = (test: string, path: string) =>
          (outcomes ?? []).some((one) => one.test === test && one.config === path)
        const missing = TESTS.filter((test) => !passed(test, 'config'))
        if (!passed('test_spec', '')) missing.push('test_spec')
        for (const path of ['wrong-secret', 'invalid-config'])
          if (!passed('test_check', path)) missing.push(`test_check ${path}`)
        if (missing.length > 0) throw new Error(`not run: ${missing.join(', ')}`)
      })
    } finally {
      await emulator.close()
    }
  },
}

function writeJson(path: string, content: unknown): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, JSON.stringify(content))
}

/** Runs a command of a connector into a file; `input` is what it reads. Throws unless it ends with 0. */
async function save(
  executable: string,
  args: readonly string[],
  path: string,
  input = '',
): Promise<void> {
  const child = spawn(executable, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  Readable.from([input]).pipe(child.stdin)
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  await finished(child.stdout.pipe(createWriteStream(path)))
  const exitCode = await ended
  if (exitCode !== 0) throw new Error(`${args[0]} ended with ${exitCode}`)
}

/** Has every message of the destination parsed by the models of the protocol. */
async function judgeDestination({ folder, projectFolder, python, step }: Tools) {
  const clients = [{ id: 'writer', secret: 'b-secret', scopes: 'all' }] as const
  const emulator = await startEmulator({ people: 3, months: 1, clients })
  const guide = join(projectFolder, 'docs/writing.md')
  const config = join(folder, 'destination.json')
  const catalog = join(folder, 'destination-catalog.json')
  writeFileSync(config, JSON.stringify({ ...emulator.config(), max_rejected: 1 }))
  writeFileSync(catalog, guideBlock('json catalog.json', guide))
  const input = guideBlock('jsonl messages.jsonl', guide)
  const rejected = input.replace('"internal_reference":1', '"internal_reference":"x"')
  const files = ['--config', config]
  const write = ['write', ...files, '--catalog', catalog]
  try {
    for (const args of [['spec'], ['check', ...files], ['discover', ...files], write]) {
      await step(`every message of the destination's ${args[0]} is one`, async () => {
        const output = join(folder, `destination-${args[0]}.jsonl`)
        await save(join(projectFolder, 'bin/destination-protime'), args, output, rejected)
        await python('airbyte_models.py', ['messages', output])
      })
    }
  } finally {
    await emulator.close()
  }
}

/** The package that defines the messages for Airbyte's Python programs. */
export const protocolModels: Engine = {
  name: 'airbyte-protocol-models',
  requirements: ['airbyte-protocol-models==0.18.0'],
  async run(tools) {
    await judgeDestination(tools)
    const { executable, folder, python, step } = tools
    const { emulator, config, streams } = await startTenant()
    const config_file = join(folder, 'config.json')
    const catalog_file = join(folder, 'catalog.json')
    const state_file = join(folder, 'state.json')
    writeFileSync(config_file, JSON.stringify(config))
    writeFileSync(catalog_file, JSON.stringify(catalogOf(streams)))
    writeFileSync(state_file, '[]')
    const files = ['--config', config_file]
    const read = ['read', ...files, '--catalog', catalog_file, '--state', state_file]
    try {
      for (const args of [['spec'], ['check', ...files], ['discover', ...files], read]) {
        await step(`every message of ${args[0]} is one`, async () => {
          const output = join(folder, `${args[0]}.jsonl`)
          await save(executable, args, output)
          await python('airbyte_models.py', ['messages', output])
        })
      }
    } finally {
      await emulator.close()
    }
  },
}

function catalogOf(streams: readonly string[]): object {
  return {
    streams: streams.map((name) => ({
      stream: { name, json_schema: {}, supported_sync_modes: ['full_refresh', 'incremental'] },
      sync_mode: 'incremental',
      destination_sync_mode: 'append_dedup',
    })),
  }
}
