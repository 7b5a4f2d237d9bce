import { forgetVersions } from '../person/forget-versions.ts'
import { turnHistoryOff, turnHistoryOn, withLanding } from '../warehouse/change-history.ts'
import type { Landing } from '../warehouse/landing.ts'
import { createPatience } from '../warehouse/patience.ts'
import { type ActionTools, EXIT, type ExitCode, orStartError, UsageError } from './command.ts'
import { ownerOf } from './sync-action.ts'
import { warehouseOf } from './warehouse-option.ts'

export interface HistoryOptions {
  readonly warehouse?: string
}

/** Keeps what rows were before from now on; with `span`, an interval of SQL, only for so long. */
export async function keepHistory(
  tools: ActionTools,
  { warehouse }: HistoryOptions,
  span?: string,
): Promise<ExitCode> {
  await orStartError(turnHistoryOn(settingsOf(tools, warehouse), new Date(), span))
  tools.log.info(
    'The history of each stream begins when a sync has read it; a sync removes what is no longer kept.',
  )
  return EXIT.done
}

/** Removes what rows were before, and keeps no more of it. */
export async function forgetHistory(
  tools: ActionTools,
  { warehouse, forget }: HistoryOptions & { readonly forget?: boolean },
): Promise<ExitCode> {
  if ((tools.input as { readonly history?: unknown }).history === true)
    throw new UsageError(
      'remove history from the configuration first: a sync would turn it on again',
    )
  if (forget !== true)
    throw new UsageError(
      'this removes what rows were before, which nobody can read again; if you want that, add --forget',
    )
  await orStartError(turnHistoryOff(settingsOf(tools, warehouse)))
  tools.log.info(
    'The history is removed. Free blocks of a DuckDB file may have bytes of it until protime sync --rewrite.',
  )
  return EXIT.done
}

/** Removes what was known of a person before, and prints how many versions of each stream that were. */
export async function forgetPerson(
  tools: ActionTools,
  { warehouse }: HistoryOptions,
  id: string,
): Promise<ExitCode> {
  const work = (landing: Landing) => forgetVersions(landing, id)
  const versions = await orStartError(withLanding(settingsOf(tools, warehouse), work))
  await tools.say({ versions })
  tools.log.info(
    'Bytes of them may remain: in a DuckDB file until protime person erase writes it anew, in PostgreSQL until VACUUM FULL of the tables closed_…',
  )
  return EXIT.done
}

function settingsOf(tools: ActionTools, warehouse: string | undefined) {
  const { config, input, log } = tools
  const [path, patience] = [warehouseOf(warehouse, input), createPatience(0, tools)]
  return { path, owner: ownerOf(config), patience, log }
}
