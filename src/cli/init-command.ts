import type { Command } from 'commander'
import { type BareAct, CONFIG_FILE, examples } from './command.ts'

/** `protime init`: a configuration file from a few questions. */
export function addInit(program: Command, act: BareAct): void {
  program
    .command('init')
    .description('ask for tenant, client and secret, check them, and write the configuration')
    .addHelpText(
      'after',
      `\nWrites config.json, or the file of --config, which only you may read. An existing file is not touched.
The answers may come from a pipe too, one per line.
${examples('init', 'init --config acme.json')}`,
    )
    .action(() =>
      act(async (tools) => {
        const { init } = await import('./init-action.ts')
        return init(tools, program.opts<{ config?: string }>().config ?? CONFIG_FILE)
      }),
    )
}
