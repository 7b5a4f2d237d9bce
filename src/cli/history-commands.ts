import type { Command } from 'commander'
import { type Act, examples, UsageError } from './command.ts'
import { personId } from './person-commands.ts'
import { warehouseOption } from './sync-commands.ts'
import type { WarehouseChoice } from './warehouse-option.ts'

/** `protime history`: whether a warehouse keeps what its rows were before. */
export function addHistory(program: Command, act: Act): void {
  const noun = program
    .command('history')
    .description('keep what the rows of a warehouse were before, or forget it')
    .addHelpText(
      'after',
      `\nThe views in the schema history have every version of a row, with known_from and known_until.
${examples('history on', 'history keep 7y --warehouse acme.duckdb', 'history forget --person 42', 'history off --forget')}`,
    )
  const load = () => import('./history-actions.ts')
  noun
    .command('on')
    .description('keep it from now on, as history: true in the configuration does')
    .addOption(warehouseOption())
    .action((options: WarehouseChoice) =>
      act(async (tools) => (await load()).keepHistory(tools, options)),
    )
  noun
    .command('keep <time>')
    .description('keep it for this long: 7y, 36mo, 90d')
    .addOption(warehouseOption())
    .action((time: string, options: WarehouseChoice) =>
      act(async (tools) => (await load()).keepHistory(tools, options, interval(time))),
    )
  noun
    .command('off')
    .description('remove it, and keep no more')
    .addOption(warehouseOption())
    .option('--forget', 'needed, because nobody can read it again')
    .action((options: WarehouseChoice & { readonly forget?: boolean }) =>
      act(async (tools) => (await load()).forgetHistory(tools, options)),
    )
  noun
    .command('forget')
    .description('remove what was known of one person before')
    .addOption(warehouseOption())
    .requiredOption('--person <id>', 'people.id')
    .action(({ person, ...options }: WarehouseChoice & { readonly person: string }) =>
      act(async (tools) => (await load()).forgetPerson(tools, options, personId(person))),
    )
}

/** `protime close`: notes what a month was. */
export function addClose(program: Command, act: Act): void {
  program
    .command('close <month>')
    .description('close a month in the warehouse: from then on, its corrections can be asked for')
    .addOption(warehouseOption())
    .addHelpText(
      'after',
      `\nNotes the moment of the last commit; of several closes of a month, the last one counts. Needs the history of the
warehouse, and a sync of all streams after the month. The dbt model protime__corrections has what changes later.
${examples('close 2026-10', 'close 2026-10 --warehouse acme.duckdb')}`,
    )
    .action((month: string, options: WarehouseChoice) =>
      act(async (tools) => (await import('./close-action.ts')).close(tools, month, options)),
    )
}

/** A time as an interval of SQL. */
function interval(text: string): string {
  const [, count = '', unit = ''] = /^([1-9]\d{0,2})(y|mo|d)$/.exec(text) ?? []
  const name = { y: 'years', mo: 'months', d: 'days' }[unit]
  if (name === undefined) throw new UsageError('the time must be one such as 7y, 36mo or 90d')
  return `${count} ${name}`
}
