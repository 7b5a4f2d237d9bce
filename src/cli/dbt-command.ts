import type { Command } from 'commander'
import { type BareAct, examples } from './command.ts'
import type { DbtInitOptions } from './dbt-init-action.ts'

/** `protime dbt init`: a dbt project over a warehouse of `protime sync`. */
export function addDbt(program: Command, act: BareAct): void {
  program
    .command('dbt')
    .description(
      'makes a dbt project of the warehouse, whose models have one row per person and day',
    )
    .command('init')
    .description('write a dbt project that reads the file of protime sync, ready for dbt build')
    .option('--warehouse <file>', 'the file of protime sync', 'protime.duckdb')
    .option('--project <folder>', 'where to write it', '.')
    .addHelpText(
      'after',
      `\nWrites dbt_project.yml, packages.yml and profiles.yml. An existing file is not touched. dbt build makes the models in
analytics.duckdb beside them; it needs dbt-duckdb.
${examples('dbt init', 'dbt init --warehouse acme.duckdb --project acme-models')}`,
    )
    .action((options: DbtInitOptions) =>
      act(async (tools) => {
        const { dbtInit } = await import('./dbt-init-action.ts')
        return dbtInit(tools, options)
      }),
    )
}
