import { offeredStreams } from '../source/source.ts'
import { closePeriod, monthOf } from '../warehouse/close-period.ts'
import { createPatience } from '../warehouse/patience.ts'
import { type ActionTools, EXIT, type ExitCode, orStartError, UsageError } from './command.ts'
import { ownerOf, streamNames } from './sync-action.ts'
import { warehouseOf } from './warehouse-option.ts'

export interface CloseOptions {
  readonly warehouse?: string
}

/** Closes a month in a warehouse, and prints the close as one JSON line. */
export async function close(
  { config, input, say, ...tools }: ActionTools,
  month: string,
  { warehouse }: CloseOptions,
): Promise<ExitCode> {
  const period = monthOf(month)
  if (period === undefined) throw new UsageError(`${month} is not a month, such as 2026-10`)
  const offered = [...offeredStreams(config).keys()]
  const chosen = streamNames({}, input) ?? offered
  const closedAt = await orStartError(
    closePeriod({
      path: warehouseOf(warehouse, input),
      owner: ownerOf(config),
      period,
      // What a sync says about itself has no history.
      streams: offered.filter((name) => chosen.includes(name)),
      now: new Date(),
      patience: createPatience(0, tools),
      log: tools.log,
    }),
  )
  await say({
    period: period.period,
    first_day: period.firstDay,
    last_day: period.lastDay,
    closed_at: closedAt,
  })
  return EXIT.done
}
