import { forgetVersions } from '../person/forget-versions.ts'
import { turnHistoryOff, turnHistoryOn, withLanding } from '../warehouse/change-history.ts'
import type { Landing } from '../warehouse/landing.ts'
import { type ActionTools, EXIT, type ExitCode, UsageError } from './command.ts'
import { openedBy, type WarehouseChoice } from './warehouse-option.ts'

/** Keeps what rows were before from now on; with `span`, an interval of SQL, only for so long. */
export async function keepHistory(
  tools: ActionTools,
  choice: WarehouseChoice,
  span?: string,
): Promise<ExitCode> {
  await turnHistoryOn(openedBy(tools, choice), new Date(), span)
  tools.log.info(
    'The history of each stream begins when a sync has read it; a sync removes what is no longer kept.',
  )
  return EXIT.done
}

/** Removes what rows were before, and keeps no more of it. */
export async function forgetHistory(
  tools: ActionTools,
  { forget, ...choice }: WarehouseChoice & { readonly forget?: boolean },
): Promise<ExitCode> {
  if ((tools.input as { readonly history?: unknown }).history === true)
    throw new UsageError(
      'remove history from the configuration first: a sync would turn it on again',
    )
  if (forget !== true)
    throw new UsageError(
      'this removes what rows were before, which nobody can read again; if you want that, add --forget',
    )
  await turnHistoryOff(openedBy(tools, choice))
  tools.log.info(
    'The history is removed. Free blocks of a DuckDB file may have bytes of it until protime sync --rewrite.',
  )
  return EXIT.done
}

/** Removes what was known of a person before, and prints how many versions of each stream that were. */
export async function forgetPerson(
  tools: ActionTools,
  choice: WarehouseChoice,
  id: string,
): Promise<ExitCode> {
  const work = (landing: Landing) => forgetVersions(landing, id)
  const versions = await withLanding(openedBy(tools, choice), work)
  await tools.say({ versions })
  tools.log.info(
    'Bytes of them may remain: in a DuckDB file until protime person erase rewrites it, in PostgreSQL until VACUUM FULL of the tables closed_…',
  )
  return EXIT.done
}
