import type { Command } from 'commander'
import { type Act, type BareAct, EXIT, examples } from './command.ts'

/** `protime check`: whether the configuration works. `protime status`: how old a warehouse is. */
export function addStatus(program: Command, act: Act, bare: BareAct): void {
  program
    .command('check')
    .description(
      'test the configuration: which streams the client can read, and why not the others',
    )
    .addHelpText(
      'after',
      `\nRequests the first page of each list, so that no sync is disturbed. Ends with 1 if nothing can be read.
${examples('check', 'check --config acme.json')}`,
    )
    .action(() =>
      act(async ({ config, log, mask, signal, print }) => {
        const { createSource } = await import('../source/source.ts')
        const { isUsable, message } = await createSource().check(config, { log, mask, signal })
        await print(`tenant ${config.tenant}, client ${config.clientId}`)
        await print(mask.text(message))
        return isUsable ? EXIT.done : EXIT.failed
      }),
    )
  program
    .command('status')
    .description('show when each stream of a warehouse was last complete, and how it is read next')
    .option('--warehouse <file>', 'the DuckDB file of protime sync', 'protime.duckdb')
    .addHelpText('after', `\nReads only the file.\n${examples('status')}`)
    .action(({ warehouse }: { warehouse: string }) =>
      bare(async ({ print, ...tools }) => {
        const { status } = await import('./status-action.ts')
        return status(warehouse, print, { now: new Date(), ...tools })
      }),
    )
}
