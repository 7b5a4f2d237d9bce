import { type Command, InvalidArgumentError, Option } from 'commander'
import type { ReferenceChoice } from '../config/config.ts'
import { type Act, examples, keyAndValue, type WriteOptions } from './command.ts'
import type { JobCategoryOptions } from './job-categories-actions.ts'
import type { ServeWords } from './serve-action.ts'
import type { CreateOptions, TestOptions } from './webhooks-actions.ts'
import type { WorkLocationToCreate } from './write-action.ts'

// The command lines for the resources of the service that are not streams; their actions are loaded when they
// are called.

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
    .option('--show-values', 'print the values that personal_data leaves out or hashes, too')
    .action((collection: string, name: string | undefined, options: { showValues?: true }) =>
      act(async (tools) => (await load()).list(tools, collection, name, options)),
    )
  noun
    .command('get <collection> <name> <value>')
    .description('print one reference; exit code 4 if there is none')
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
  const load = () => import('./write-action.ts')
  noun
    .command('list')
    .description('print all work locations')
    .action(() => act(async (tools) => (await load()).listWorkLocations(tools)))
  noun
    .command('create')
    .description('create a work location unless one has this reference, and print the result')
    .requiredOption('--name <text>', 'the name')
    .option('--description <text>', 'free text about the place')
    .requiredOption(
      '--as <name=value>',
      'the custom reference that identifies it, so that creating it twice creates one',
      keyAndValue,
    )
    .action((options: WorkLocationToCreate) =>
      act(async (tools) => (await load()).createWorkLocation(tools, options)),
    )
}

/** `protime write`: many records, from a file or from a program before it in a pipe. */
export function addWrite(program: Command, act: Act): void {
  program
    .command('write <object>')
    .description(
      'write records, one JSON object per line or CSV with a header, and print the outcome of each: external_references, job_categories or work_locations',
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
    .option(
      '--show-values',
      'print the values of external references and what the service says about them, which may name people',
    )
    .option(
      '--by <collection:name>',
      'references of this collection name their record by this reference instead of its id',
      (text: string) => {
        const [{ collection, names }] = addReference(text) as [ReferenceChoice]
        return { collection, name: names[0] ?? '' }
      },
    )
    .addHelpText(
      'after',
      examples(
        'write external_references --from hr-numbers.jsonl --dry-run --config config.json',
        'write external_references --from badges.csv --by people:@employee-number --config config.json',
        'write job_categories --from - --config config.json < categories.jsonl',
      ),
    )
    .action((object: string, options: WriteOptions) =>
      act(async (tools) => (await import('./write-action.ts')).write(tools, object, options)),
    )
}

/** `protime webhooks`: which changes the service sends, and to which URL. Returns the command. */
export function addWebhooks(program: Command, act: Act): Command {
  const noun = program
    .command('webhooks')
    .description('which changes the service sends, and to which URL')
    .addHelpText(
      'after',
      examples(
        'webhooks create --collection people --url https://example.org/hook --key-file people.key --config config.json',
        'webhooks list --status Disabled --config config.json',
      ),
    )
  const load = () => import('./webhooks-actions.ts')
  const only = 'only those of these collections, separated by commas'
  const collections = ['--collection <names>', only, (names: string) => names.split(',')] as const
  noun
    .command('create')
    .description('create a webhook; its key goes to a new file, because it cannot be read again')
    .requiredOption('--collection <name>', 'the collection whose changes are sent')
    .requiredOption('--url <url>', 'the URL that receives them')
    .requiredOption('--key-file <file>', 'the new file for the key; only its owner can read it')
    .option(
      '--reference <collection:name>',
      'an external reference to include in the records, repeatable',
      addReference,
    )
    .addHelpText(
      'after',
      '\nIf this ends without printing the webhook, look for it with `webhooks list` and delete it: nobody has its key.\n',
    )
    .action((options: CreateOptions) => act(async (tools) => (await load()).create(tools, options)))
  noun
    .command('list')
    .description('print all webhooks')
    .option(...collections)
    .option('--status <status>', 'only those with this status: Enabled or Disabled')
    .action((options: { readonly collection?: readonly string[]; readonly status?: string }) =>
      act(async (tools) => (await load()).list(tools, options)),
    )
  noun
    .command('get <id>')
    .description('print one webhook; exit code 4 if there is none')
    .action((id: string) => act(async (tools) => (await load()).get(tools, id)))
  noun
    .command('delete <id>')
    .description('delete a webhook; exit code 4 if there is none')
    .action((id: string) => act(async (tools) => (await load()).remove(tools, id)))
  noun
    .command('test')
    .description(
      'send a delivery to each webhook of a server through its public URL; exit code 1 if one does not arrive',
    )
    .requiredOption('--store <file>', 'the store of `webhooks serve`')
    .option(...collections)
    .action((options: TestOptions) => act(async (tools) => (await load()).test(tools, options)))
  return noun
}

function addReference(
  text: string,
  choices: readonly ReferenceChoice[] = [],
): readonly ReferenceChoice[] {
  const [, collection, name] = /^([^:]+):(.+)$/.exec(text) ?? []
  if (collection === undefined || name === undefined) {
    throw new InvalidArgumentError('It must have the form COLLECTION:NAME.')
  }
  return [...choices, { collection, names: [name] }]
}

/** Adds `protime webhooks serve`. */
export function addServe(webhooks: Command, act: Act): void {
  const command = webhooks
    .command('serve')
    .description(
      'receive the deliveries of webhooks, keep the webhooks alive, and start a sync when something changes',
    )
  for (const option of serveOptions()) command.addOption(option)
  command.action(async (words: ServeWords) => {
    const { serveAction } = await import('./serve-action.ts')
    await act(serveAction(words))
  })
}

/** Every option of `protime webhooks serve`, in the order of its help. */
export function serveOptions(): Option[] {
  const option = (flags: string, text: string, fallback?: string) => {
    const made = new Option(flags, text)
    return fallback === undefined ? made : made.default(fallback)
  }
  return [
    option(
      '--public-url <url>',
      'the https address at which the service reaches this program, with or without a path',
    ),
    option('--listen <address>', 'host and port to listen at, without TLS', '127.0.0.1:8080'),
    option(
      '--store <file>',
      'the file for the webhooks and their keys; only its owner can read it',
    ),
    option('--collection <names>', 'subscribe only to these collections, separated by commas'),
    option(
      '--run <command>',
      'sync with this shell command, which gets PROTIME_STREAMS and PROTIME_REASON',
    ),
    option(
      '--airbyte-connection <id>',
      'sync with this Airbyte connection (AIRBYTE_URL, AIRBYTE_CLIENT_ID, AIRBYTE_CLIENT_SECRET)',
    ),
    option(
      '--post <url>',
      'sync with a request to this address, with streams and reason as JSON; if it has a user name, the password is PROTIME_POST_PASSWORD',
    ),
    option('--debounce <seconds>', 'sync when no delivery has arrived for this long', '10'),
    option('--max-wait <seconds>', 'but wait no longer than this after the first delivery', '60'),
    option(
      '--min-interval <seconds>',
      'least time from the start of one sync to the start of the next: 60 with --run, 300 otherwise',
    ),
    option(
      '--retry <seconds>',
      'wait this long after a sync that failed or was busy; doubled after each failure, up to 30 minutes',
      '60',
    ),
    option('--poll <seconds>', 'how often to ask whether an Airbyte job has ended', '30'),
    option('--watch-interval <seconds>', 'how often to check the webhooks', '900'),
    option('--adopt', 'delete webhooks with the public URL whose keys are not in the store'),
    option('--once', 'end after the first sync; with exit code 1 if it failed'),
    option('--unsubscribe', 'delete the webhooks of the store, empty it, and end'),
  ]
}
