import { existsSync } from 'node:fs'
import { type Config, configureFile } from '../config/config.ts'
import { configSchema } from '../config/config-faults.ts'
import { ConnectorError } from '../ground/errors.ts'
import type { Mask } from '../ground/mask.ts'
import { warnOfReaders } from '../ground/private-file.ts'
import { secretsOf } from '../ground/settings-schema.ts'
import { withoutControls } from '../ground/text.ts'
import { readJsonOption } from '../protocol/command-line.ts'
import type { Log } from '../protocol/connector.ts'
import type { LineWriter } from '../protocol/line-writer.ts'
import {
  type ActionTools,
  CONFIG_FILE,
  type CommandAction,
  type ExitCode,
  type Refuse,
  UsageError,
} from './command.ts'

/** The tools of an action that do not depend on the configuration. */
export interface ActSettings
  extends Omit<ActionTools, 'config' | 'input' | 'configFile' | 'say' | 'print'> {
  /** The file of `--config`; undefined means the file that `protime init` writes. */
  readonly file: string | undefined
  readonly writer: LineWriter
}

/** Reads the configuration and runs an action with it. */
export async function act(
  action: CommandAction,
  settings: ActSettings,
  refuse?: Refuse,
): Promise<ExitCode> {
  const { file = CONFIG_FILE, writer, ...tools } = settings
  const { log, mask } = tools
  const print = (text: string) => writer.write(`${withoutControls(text)}\n`)
  const say = (value: unknown) => print(JSON.stringify(value))
  if (settings.file === undefined && !existsSync(file))
    throw new UsageError(
      `there is no ${file} here: create it with protime init, or name another file with --config`,
    )
  let settled: { readonly config: Config; readonly input: unknown }
  try {
    settled = await readConfig(file, log, mask)
  } catch (error) {
    if (refuse === undefined || !(error instanceof ConnectorError)) throw error
    return refuse(error, { ...tools, say })
  }
  return action({ ...tools, ...settled, configFile: file, print, say })
}

async function readConfig(file: string, log: Log, mask: Mask) {
  const input = await readJsonOption('--config', file)
  await warnOfReaders(file, log)
  for (const secret of secretsOf(configSchema(), input)) mask.add(secret)
  return { config: configureFile(input, log), input }
}
