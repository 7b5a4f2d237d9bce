import { chmodSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { output } from './command.ts'
import type { Engine } from './engine.ts'
import { pythonWith } from './python.ts'
import { startTenant } from './tenant.ts'

const REQUIREMENTS = ['singer-tools==0.4.1']

/** Singer's own check of a tap: reads all, validates each record, and reads again with the state. */
export const singerTools: Engine = {
  name: 'singer-tools',
  requirements: REQUIREMENTS,
  async run({ folder, projectFolder, step }) {
    const interpreter = pythonWith('singer-tools', REQUIREMENTS)
    const { emulator, config, streams } = await startTenant()
    try {
      const file = join(folder, 'config.json')
      writeFileSync(file, JSON.stringify(config))
      const tap = unhurried(folder, join(projectFolder, 'bin', 'tap-protime'))
      await step('accepts both readings, of every stream', async () => {
        const said = await output({
          program: interpreter,
          args: [join(dirname(interpreter), 'singer-check-tap'), '--tap', tap, '--config', file],
          folder,
        })
        const valid = said.match(
          /The output is valid\.\nIt contained \d+ messages for \d+ streams/g,
        )
        const all = `for ${streams.length + 1} streams`
        if (valid?.length !== 2 || !valid.every((text) => text.includes(all))) throw new Error(said)
      })
    } finally {
      await emulator.close()
    }
  },
}

/**
 * The tap in a shell that closes its output and then waits: singer-check-tap does not wait for its
 * own reader once the process has ended, and then fails by a race.
 */
function unhurried(folder: string, tap: string): string {
  const script = join(folder, 'tap')
  writeFileSync(script, `#!/bin/sh\n'${tap}' "$@"\ncode=$?\nexec >&-\nsleep 2\nexit $code\n`)
  chmodSync(script, 0o755)
  return script
}
