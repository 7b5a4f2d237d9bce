import type { Command } from 'commander'
import { type Act, examples } from './command.ts'

/** `protime references`: custom external references, one at a time. */
export function addReferences(program: Command, act: Act): void {
  const noun = program
    .command('references')
    .description('custom external references, such as the HR number of a person')
    .addHelpText(
      'after',
      examples(
        'references list people hr-number --config config.json',
        'references put people hr-number E-1042 17 --config config.json',
      ),
    )
  const load = () => import('./references-actions.ts')
  noun
    .command('list <collection> [name]')
    .description('print all references of a collection, or those of one name')
    .action((collection: string, name: string | undefined) =>
      act(async (tools) => (await load()).list(tools, collection, name)),
    )
  noun
    .command('get <collection> <name> <value>')
    .description('print one reference; exit code 4 when there is none')
    .action((collection: string, name: string, value: string) =>
      act(async (tools) => (await load()).get(tools, { collection, name, value })),
    )
  noun
    .command('put <collection> <name> <value> <id>')
    .description('link a value to the record with this id')
    .action((collection: string, name: string, value: string, internalReference: string) =>
      act(async (tools) =>
        (await load()).put(tools, { collection, name, value, internalReference }),
      ),
    )
  noun
    .command('delete <collection> <name> <value>')
    .description('remove the link of a value; exit code 4 if there is none')
    .action((collection: string, name: string, value: string) =>
      act(async (tools) => (await load()).remove(tools, { collection, name, value })),
    )
}
