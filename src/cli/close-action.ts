import { offeredStreams } from '../source/source.ts'
import { closePeriod, monthOf } from '../warehouse/close-period.ts'
import { type ActionTools, EXIT, type ExitCode, orStartError, UsageError } from './command.ts'
import { streamNames } from './sync-action.ts'
import { openedBy, type WarehouseChoice } from './warehouse-option.ts'

/** Closes a month in a warehouse, and prints the close as one JSON line. */
export async function close(
  tools: ActionTools,
  month: string,
  choice: WarehouseChoice,
): Promise<ExitCode> {
  const period = monthOf(month)
  if (period === undefined) throw new UsageError(`${month} is not a month, such as 2026-10`)
  const offered = [...offeredStreams(tools.config).keys()]
  const chosen = streamNames({}, tools.input) ?? offered
  const closedAt = await orStartError(
    closePeriod({
      ...openedBy(tools, choice),
      period,
      // What a sync says about itself has no history.
      streams: offered.filter((name) => chosen.includes(name)),
      now: new Date(),
    }),
  )
  await tools.say({
    period: period.period,
    first_day: period.firstDay,
    last_day: period.lastDay,
    closed_at: closedAt,
  })
  return EXIT.done
}
