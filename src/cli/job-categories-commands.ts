import type { Command } from 'commander'
import { type Act, examples, keyAndValue } from './command.ts'
import type { JobCategoryOptions } from './job-categories-actions.ts'

/** `protime job-categories`: their names and codes. This API can neither create nor delete one. */
export function addJobCategories(program: Command, act: Act): void {
  const noun = program
    .command('job-categories')
    .description('names and codes of job categories')
    .addHelpText(
      'after',
      examples(
        'job-categories get 7 --config config.json',
        'job-categories put BAKER --reference hr-code --name Bakers --translation nl=Bakkers --config config.json',
      ),
    )
  const load = () => import('./job-categories-actions.ts')
  const reference = ['--reference <name>', 'the custom reference whose value names it'] as const
  noun
    .command('list')
    .description('print all job categories')
    .action(() => act(async (tools) => (await load()).list(tools)))
  noun
    .command('get <ref>')
    .description('print one, by its id or by a reference; exit code 4 if there is none')
    .option(...reference)
    .action((ref: string, options: { readonly reference?: string }) =>
      act(async (tools) => (await load()).get(tools, ref, options.reference)),
    )
  noun
    .command('put <ref>')
    .description('change the given fields and keep the others')
    .option(...reference)
    .option('--name <text>', 'the name')
    .option(
      '--translation <language=text>',
      'the name in one language, repeatable; without a text it is removed',
      (pair: string, pairs: Readonly<Record<string, string>> = {}) => {
        const [language, text] = keyAndValue(pair)
        return { ...pairs, [language]: text }
      },
    )
    .option('--external-code <text>', 'the code')
    .action((ref: string, options: JobCategoryOptions) =>
      act(async (tools) => (await load()).put(tools, ref, options)),
    )
}
