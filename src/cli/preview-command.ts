import { type Command, InvalidArgumentError } from 'commander'
import { type Act, examples } from './command.ts'

/** `protime preview`: what a tenant has, before anything is synced. */
export function addPreview(program: Command, act: Act): void {
  program
    .command('preview [stream...]')
    .description('show the first records of the given streams, or of all streams')
    .option('--limit <number>', 'how many records of each stream', wholeNumber, 10)
    .option('--json', 'one JSON line per record instead of tables')
    .addHelpText(
      'after',
      `\nAsks for lists only, so that no sync is disturbed. Of dated records the last 31 days are shown.
${examples('preview --config config.json', 'preview people clockings --limit 3 --json --config config.json')}`,
    )
    .action((streams: string[], { limit, json = false }: { limit: number; json?: boolean }) =>
      act(async (tools) => {
        const { show } = await import('./preview-action.ts')
        return show(tools, { streams, limit, isJson: json })
      }),
    )
}

function wholeNumber(text: string): number {
  if (!/^[1-9]\d{0,4}$/.test(text))
    throw new InvalidArgumentError('It must be a whole number from 1 to 99999.')
  return Number(text)
}
