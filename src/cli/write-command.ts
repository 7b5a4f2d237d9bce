import type { Command } from 'commander'
import { type Act, examples, type WriteOptions } from './command.ts'

/** `protime write`: many records, from a file or from a program before it in a pipe. */
export function addWrite(program: Command, act: Act): void {
  program
    .command('write <object>')
    .description(
      'write records, one JSON object per line, and print what became of each: external_references, job_categories or work_locations',
    )
    .option('--from <file>', 'the file with the records; - is stdin', '-')
    .option('--dry-run', 'report what would be done, and change nothing')
    .option(
      '--mirror',
      'the input is complete: delete references that are missing from it, under the names that it contains',
    )
    .option(
      '--max-deletes <number>',
      'how many references a mirror may delete or move under a name: a number, or a percentage such as 20%',
    )
    .option('--show-values', 'print the values of external references, which may name people')
    .addHelpText(
      'after',
      examples(
        'write external_references --from hr-numbers.jsonl --dry-run --config config.json',
        'write job_categories --from - --config config.json < categories.jsonl',
      ),
    )
    .action((object: string, options: WriteOptions) =>
      act(async (tools) => (await import('./write-action.ts')).write(tools, object, options)),
    )
}
