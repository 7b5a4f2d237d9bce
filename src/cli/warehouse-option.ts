import { existsSync } from 'node:fs'
import { notValid, pathFault } from '../config/config-faults.ts'
import { ConnectorError } from '../ground/errors.ts'
import { othersConfigure } from '../ground/others-configure.ts'
import { settingsFingerprint } from '../privacy/privacy-settings.ts'
import { readJsonOption } from '../protocol/command-line.ts'
import type { Owner } from '../warehouse/landing.ts'
import { createPatience } from '../warehouse/patience.ts'
import { type ActionTools, CONFIG_FILE } from './command.ts'

const DEFAULT = 'protime.duckdb'

/** The warehouse that a command line names. */
export interface WarehouseChoice {
  readonly warehouse?: string
}

/** What opens the warehouse of a command, which must be that of the configured tenant. */
export function openedBy(tools: ActionTools, { warehouse }: WarehouseChoice) {
  const { config, input, log } = tools
  const [path, patience] = [warehouseOf(warehouse, input), createPatience(0, tools)]
  return { path, owner: ownerOf(config), patience, log }
}

/** The tenant of a warehouse, and the treatment of its records. */
export function ownerOf(
  config: Pick<ActionTools['config'], 'tenant' | 'environment' | 'privacy'>,
): Owner {
  return { ...config, redaction: settingsFingerprint(config.privacy) }
}

/** The warehouse of the command line, or of the member `warehouse` of the configuration, or a file in this folder. */
export function warehouseOf(option: string | undefined, input: unknown): string {
  if (option !== undefined) return option
  const { warehouse = DEFAULT } = Object(input) as { readonly warehouse?: unknown }
  if (warehouse !== DEFAULT && othersConfigure()) throw notValid(pathFault('warehouse'))
  if (typeof warehouse === 'string' && warehouse !== '') return warehouse
  throw new ConnectorError(
    'config',
    'warehouse-not-a-text',
    'warehouse in the configuration must be a file or an address of PostgreSQL.',
  )
}

/** The same for a command that needs no configuration, but takes the warehouse of one that is there. */
export async function warehouseIn(option: string | undefined, file?: string): Promise<string> {
  const isNone = file === undefined && !existsSync(CONFIG_FILE)
  if (option !== undefined || isNone) return warehouseOf(option, {})
  return warehouseOf(undefined, await readJsonOption('--config', file ?? CONFIG_FILE))
}
