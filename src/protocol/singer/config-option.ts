import { readJsonOption } from '../command-line.ts'
import type { Log } from '../connector.ts'
import type { Mask } from '../mask.ts'
import type { Io } from '../program.ts'
import { type SettingsSchema, secretsOf } from '../settings-schema.ts'
import {
  mergeSettings,
  settingsFromEnvironment,
  unknownVariables,
  withoutUnset,
} from './settings.ts'

/** Where settings come from besides files. */
export interface SettingsSources {
  readonly schema: SettingsSchema
  /** Begins the names of environment variables with settings. */
  readonly prefix: string
  readonly env: Io['env']
}

/**
 * The settings of all --config options, later ones over earlier ones; undefined when there is none. Their
 * secrets are masked from now on.
 */
export async function configOf(
  names: readonly string[],
  { schema, prefix, env }: SettingsSources,
  { mask, log }: { readonly mask: Mask; readonly log: Log },
): Promise<unknown> {
  if (names.length === 0) return undefined
  if (names.includes('ENV')) {
    for (const name of unknownVariables(schema, prefix, env))
      log.warn(`The variable ${name} is no setting and is ignored.`)
  }
  const files = names.filter((name) => name !== 'ENV')
  const configs = await Promise.all(files.map((name) => readJsonOption('--config', name)))
  // The environment wins over files, wherever it stands.
  if (names.includes('ENV')) configs.push(settingsFromEnvironment(schema, prefix, env))
  const config = withoutUnset(mergeSettings(configs))
  for (const secret of secretsOf(schema, config)) mask.add(secret)
  return config
}
