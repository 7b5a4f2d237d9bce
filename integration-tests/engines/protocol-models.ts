import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { judgeDestination } from './destination-models.ts'
import type { Engine } from './engine.ts'
import { save } from './save.ts'
import { startTenant } from './tenant.ts'

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
