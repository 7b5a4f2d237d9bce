import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startEmulator } from '../../emulator/emulator.ts'
import { guideBlock } from '../testing/guide-block.ts'
import type { Tools } from './engine.ts'
import { save } from './save.ts'

/** Has every message of the destination parsed by the models of the protocol. */
export async function judgeDestination({ folder, projectFolder, python, step }: Tools) {
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
        await python('protocol_models.py', [output])
      })
    }
  } finally {
    await emulator.close()
  }
}
