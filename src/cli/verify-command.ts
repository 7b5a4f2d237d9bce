import { type Command, InvalidArgumentError, Option } from 'commander'
import { DIALECTS } from '../verify/landing-queries.ts'
import { type Act, examples, UsageError } from './command.ts'
import type { VerifyOptions } from './verify-action.ts'

/** `protime verify`: whether a warehouse holds what the service has. */
export function addVerify(program: Command, act: Act): void {
  program
    .command('verify')
    .description('compare a warehouse with the service, row by row and field by field')
    .option('--warehouse <file>', 'the DuckDB file of protime sync', 'protime.duckdb')
    .option(
      '--rows <file>',
      'rows of another warehouse as JSON lines, instead of a DuckDB file; - is stdin',
    )
    .option('--streams <names>', 'the streams to compare, separated by commas (default: all)')
    .option('--sync', 'sync the file before and after, so that only real differences remain')
    .option('--again <file>', 'compare again the rows that an earlier output named')
    .option('--limit <number>', 'print this many differences and count the others', wholeNumber)
    .addOption(
      new Option('--sql <dialect>', 'print the queries whose results --rows takes').choices(
        DIALECTS,
      ),
    )
    .addHelpText(
      'after',
      `\nAsks for lists only, so that no sync is disturbed. Values of rows are never printed.
Ends with 0 if nothing differs, with 3 if something does, and with 1 if a stream could not be compared.
${examples('verify', 'verify --sync', 'verify --sql postgres --streams people,clockings', 'verify --rows rows.jsonl')}`,
    )
    .action(async (options: VerifyOptions) => {
      const contradiction = ['rows', 'again', 'sql'].find((name) => name in options)
      if (options.sync === true && contradiction !== undefined)
        throw new UsageError(`--sync goes with no --${contradiction}`)
      const { refuseVerify, verifyAction } = await import('./verify-action.ts')
      await act(verifyAction(options), refuseVerify)
    })
}

function wholeNumber(text: string): number {
  if (!/^(0|[1-9]\d{0,8})$/.test(text)) throw new InvalidArgumentError('It must be a whole number.')
  return Number(text)
}
