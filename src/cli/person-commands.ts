import { sep } from 'node:path'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { type Act, examples, keyAndValue, UsageError } from './command.ts'
import type { EraseOptions, ExportOptions, PersonSqlOptions } from './person-actions.ts'

/** `protime person`: what a warehouse has about one person. */
export function addPerson(program: Command, act: Act): void {
  const noun = program
    .command('person')
    .description('export or erase what a warehouse has about one person')
    .addHelpText(
      'after',
      examples(
        'person export 42 --output person.jsonl',
        'person export --reference people:@employee-number=1042',
        'person erase 42 --publish readers.duckdb',
        'person sql 42 --dialect postgres --erase',
      ),
    )
  const load = () => import('./person-actions.ts')
  const warehouse = () => new Option('--warehouse <file>', 'the DuckDB file of protime sync')
  noun
    .command('export [id]')
    .description('print all rows of a person, then texts of others that may name the person')
    .addOption(warehouse())
    .option(
      '--reference <people:name=value>',
      'a reference of the person, in place of the id',
      reference,
    )
    .option('--output <file>', 'write a new file that only you can read')
    .action((id: string | undefined, options: ExportOptions) =>
      act(async (tools) => (await load()).exportPerson(tools, id && personId(id), options)),
    )
  noun
    .command('erase <id>')
    .description(
      'erase a person whom the service no longer lists from the file and its copies, and print a receipt',
    )
    .addOption(warehouse())
    .option(
      '--publish <file>',
      'a copy to replace; repeatable',
      (file: string, files: string[]) => [...files, copyFile(file)],
      [],
    )
    .option(
      '--name <text>',
      'a name or number to search for in texts of others, if a sync has deleted the rows; repeatable',
      (text: string, texts: string[]) => [...texts, text],
      [],
    )
    .action((id: string, options: EraseOptions) =>
      act(async (tools) => (await load()).erase(tools, personId(id), options)),
    )
  noun
    .command('sql <id>')
    .description('print statements that show or delete a person, for any other warehouse')
    .addOption(warehouse().hideHelp())
    .addOption(
      new Option('--dialect <dialect>', 'the database')
        .choices(['duckdb', 'postgres'])
        .makeOptionMandatory(),
    )
    .option('--erase', 'statements that delete the rows, in place of those that show them')
    .action((id: string, options: PersonSqlOptions) =>
      act(async (tools) => (await load()).printPersonSql(tools, personId(id), options)),
    )
}

/** Returns the text if it is an id as in `people.id`; throws a usage error otherwise. */
export function personId(text: string): string {
  if (!/^[1-9]\d{0,15}$/.test(text))
    throw new UsageError('the id of a person is a whole number, as in people.id')
  return text
}

/** A folder of Parquet files has nothing but rows of the warehouse, and each sync that publishes it writes them anew. */
function copyFile(path: string): string {
  if (!path.endsWith('/') && !path.endsWith(sep)) return path
  throw new InvalidArgumentError(
    'It must be a file. A folder of Parquet files is rewritten by the next protime sync with --publish.',
  )
}

function reference(text: string): NonNullable<ExportOptions['reference']> {
  const [, collection, rest = ''] = /^([^:]+):(.*)$/s.exec(text) ?? []
  if (collection !== 'people')
    throw new InvalidArgumentError('It must have the form people:NAME=VALUE.')
  const [name, value] = keyAndValue(rest)
  return { name, value }
}
