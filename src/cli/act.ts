import { type Config, parseConfig } from '../config/config.ts'
import { configSchema } from '../config/config-schema.ts'
import { configWarnings } from '../config/config-warnings.ts'
import { readJsonOption } from '../protocol/command-line.ts'
import type { Log } from '../protocol/connector.ts'
import { ConnectorError } from '../protocol/errors.ts'
import type { LineWriter } from '../protocol/line-writer.ts'
import type { Mask } from '../protocol/mask.ts'
import type { Io, Program } from '../protocol/program.ts'
import type { Screen } from '../protocol/progress/screen.ts'
import { secretsOf } from '../protocol/settings-schema.ts'
import type { Action, CommandLog, Refuse } from './action.ts'
import { type ExitCode, UsageError } from './exit-code.ts'

/** What an action is run with. */
export interface ActSettings {
  /** The file of `--config`. */
  readonly file: string | undefined
  readonly writer: LineWriter
  readonly signal: AbortSignal
  readonly allowToEnd: Program['allowToEnd']
  readonly log: CommandLog
  readonly mask: Mask
  readonly screen: Screen
  readonly env: Io['env']
}

/** Reads the configuration and runs an action with it. */
export async function act(
  action: Action,
  settings: ActSettings,
  refuse?: Refuse,
): Promise<ExitCode> {
  const { file, writer, signal, allowToEnd, log, mask, screen, env } = settings
  const print = (text: string) => writer.write(`${text}\n`)
  const say = (value: unknown) => print(JSON.stringify(value))
  if (file === undefined) throw new UsageError('the option --config is missing')
  let settled: { readonly config: Config; readonly input: unknown }
  try {
    settled = await configure(file, log, mask)
  } catch (error) {
    if (refuse === undefined || !(error instanceof ConnectorError)) throw error
    return refuse(error, { say, log, mask, screen, env })
  }
  return action({ ...settled, print, say, log, mask, signal, allowToEnd, screen, env })
}

async function configure(file: string, log: Log, mask: Mask) {
  const input = await readJsonOption('--config', file)
  for (const secret of secretsOf(configSchema(), input)) mask.add(secret)
  for (const warning of configWarnings(input)) log.warn(warning)
  return { config: parseConfig(input), input }
}
