import { spawn } from 'node:child_process'
import { createWriteStream, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { finished } from 'node:stream/promises'
import type { Engine } from './engine.ts'
import { startTenant } from './tenant.ts'

/** The package that defines the messages for Airbyte's Python programs. */
export const protocolModels: Engine = {
  name: 'airbyte-protocol-models',
  requirements: ['airbyte-protocol-models==0.18.0'],
  async run({ executable, folder, python, step }) {
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
          await python('protocol_models.py', [output])
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

/** Runs a command of the connector into a file. */
async function save(executable: string, args: readonly string[], path: string): Promise<void> {
  const child = spawn(executable, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  await finished(child.stdout.pipe(createWriteStream(path)))
  const exitCode = await ended
  if (exitCode !== 0) throw new Error(`${args[0]} ended with ${exitCode}`)
}
