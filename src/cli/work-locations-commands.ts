import type { Command } from 'commander'
import { type Act, examples, keyAndValue } from './command.ts'
import type { WorkLocationToCreate } from './write-action.ts'

/** `protime work-locations`: the places where people work. This API can neither change nor delete one. */
export function addWorkLocations(program: Command, act: Act): void {
  const noun = program
    .command('work-locations')
    .description('the places where people work')
    .addHelpText(
      'after',
      examples(
        'work-locations list --config config.json',
        'work-locations create --name "North site" --as erp=N1 --config config.json',
      ),
    )
  const load = () => import('./work-locations-actions.ts')
  noun
    .command('list')
    .description('print all work locations')
    .action(() => act(async (tools) => (await load()).list(tools)))
  noun
    .command('create')
    .description('create a work location unless one has this reference, and print the result')
    .requiredOption('--name <text>', 'the name')
    .option('--description <text>', 'free text about the place')
    .requiredOption(
      '--as <name=value>',
      'the custom reference that it gets, by which it is known again: creating it twice makes one',
      keyAndValue,
    )
    .action((options: WorkLocationToCreate) =>
      act(async (tools) => (await import('./write-action.ts')).createWorkLocation(tools, options)),
    )
}
