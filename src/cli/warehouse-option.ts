import { existsSync } from 'node:fs'
import { notValid, pathFault } from '../config/config-faults.ts'
import { ConnectorError } from '../ground/errors.ts'
import { othersConfigure } from '../ground/others-configure.ts'
import { readJsonOption } from '../protocol/command-line.ts'
import { CONFIG_FILE } from './command.ts'

const DEFAULT = 'protime.duckdb'

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
export async function warehouseIn(
  option: string | undefined,
  file: string = CONFIG_FILE,
): Promise<string> {
  if (option !== undefined || !existsSync(file)) return warehouseOf(option, {})
  return warehouseOf(undefined, await readJsonOption('--config', file))
}
