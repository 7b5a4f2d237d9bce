import type { Command } from 'commander'
import type { Act } from './action.ts'
import { examples } from './examples.ts'

/** `protime work-locations`: the places where people work. This API can neither change nor delete one. */
export function addWorkLocations(program: Command, act: Act): void {
  const noun = program
    .command('work-locations')
    .description('the places where people work')
    .addHelpText('after', examples('work-locations list --config config.json'))
  const load = () => import('./work-locations-actions.ts')
  noun
    .command('list')
    .description('print all work locations')
    .action(() => act(async (tools) => (await load()).list(tools)))
}
