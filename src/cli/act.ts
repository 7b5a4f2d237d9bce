import { parseConfig } from '../config.ts'
import { configWarnings } from '../config-warnings.ts'
import { readProjectJson } from '../project-files.ts'
import { readJsonOption } from '../protocol/command-line.ts'
import type { Log } from '../protocol/connector.ts'
import type { LineWriter } from '../protocol/line-writer.ts'
import type { Mask } from '../protocol/mask.ts'
import type { Program } from '../protocol/program.ts'
import { type SettingsSchema, secretsOf } from '../protocol/settings-schema.ts'
import type { Action } from './action.ts'
import { type ExitCode, UsageError } from './exit-code.ts'

export interface ActSettings {
  /** The file of `--config`. */
  readonly file: string | undefined
  readonly writer: LineWriter
  readonly signal: AbortSignal
  readonly allowToEnd: Program['allowToEnd']
  readonly log: Log
  readonly mask: Mask
}

/** Reads the configuration and runs an action with it. */
export async function act(action: Action, settings: ActSettings): Promise<ExitCode> {
  const { file, writer, signal, allowToEnd, log, mask } = settings
  if (file === undefined) throw new UsageError('the option --config is missing')
  const input = await readJsonOption('--config', file)
  const spec = readProjectJson('#spec') as { readonly connectionSpecification: SettingsSchema }
  for (const secret of secretsOf(spec.connectionSpecification, input)) mask.add(secret)
  for (const warning of configWarnings(input)) log.warn(warning)
  return action({
    config: parseConfig(input),
    input,
    print: (text) => writer.write(`${text}\n`),
    say: (value) => writer.write(`${JSON.stringify(value)}\n`),
    log,
    mask,
    signal,
    allowToEnd,
  })
}
