import { type Command, InvalidArgumentError } from 'commander'
import type { ReferenceChoice } from '../config/config.ts'
import { type Act, examples } from './command.ts'
import { type ServeWords, serveOptions } from './serve-options.ts'
import type { CreateOptions } from './webhooks-actions.ts'
import type { TestOptions } from './webhooks-test-action.ts'

/** `protime webhooks`: which changes the service sends, and to which URL. Answers with the noun. */
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
  noun
    .command('create')
    .description('create a webhook; its key goes to a new file, because it cannot be read again')
    .requiredOption('--collection <name>', 'the collection whose changes are sent')
    .requiredOption('--url <url>', 'the URL that receives them')
    .requiredOption('--key-file <file>', 'the file that is made for the key, for its owner alone')
    .option(
      '--reference <collection:name>',
      'an external reference that the records carry, repeatable',
      addReference,
    )
    .addHelpText(
      'after',
      '\nShould this end without printing the webhook, look for it with `webhooks list` and delete it: nobody has its key.\n',
    )
    .action((options: CreateOptions) => act(async (tools) => (await load()).create(tools, options)))
  noun
    .command('list')
    .description('print all webhooks')
    .option('--collection <names>', 'those of these collections, separated by commas', separated)
    .option('--status <status>', 'those that are Enabled, or Disabled')
    .action((options: { readonly collection?: readonly string[]; readonly status?: string }) =>
      act(async (tools) => (await load()).list(tools, options)),
    )
  noun
    .command('get <id>')
    .description('print one webhook; exit code 4 when there is none')
    .action((id: string) => act(async (tools) => (await load()).get(tools, id)))
  noun
    .command('delete <id>')
    .description('delete a webhook; exit code 4 when there is none')
    .action((id: string) => act(async (tools) => (await load()).remove(tools, id)))
  noun
    .command('test')
    .description(
      'deliver to each webhook of a server through its public URL; exit code 1 when one does not arrive',
    )
    .requiredOption('--store <file>', 'the store of `webhooks serve`')
    .option('--collection <names>', 'those of these collections, separated by commas', separated)
    .action((options: TestOptions) =>
      act(async (tools) => (await import('./webhooks-test-action.ts')).test(tools, options)),
    )
  return noun
}

function separated(names: string): readonly string[] {
  return names.split(',').filter((name) => name.trim() !== '')
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
