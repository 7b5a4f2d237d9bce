import { closePeriod, monthOf } from '../warehouse/close-period.ts'
import { type ActionTools, EXIT, type ExitCode, UsageError } from './command.ts'
import { chosenSpecs } from './sync-action.ts'
import { openedBy, type WarehouseChoice } from './warehouse-option.ts'

/** Closes a month in a warehouse, and prints the close as one JSON line. */
export async function close(
  tools: ActionTools,
  month: string,
  choice: WarehouseChoice,
): Promise<ExitCode> {
  const period = monthOf(month)
  if (period === undefined) throw new UsageError(`${month} is not a month, such as 2026-10`)
  const chosen = await chosenSpecs({}, tools)
  const closedAt = await closePeriod({
    ...openedBy(tools, choice),
    period,
    // What a sync says about itself has no history.
    streams: chosen.filter(({ isOfSync }) => isOfSync !== true).map(({ name }) => name),
    now: new Date(),
  })
  await tools.say({
    period: period.period,
    first_day: period.firstDay,
    last_day: period.lastDay,
    closed_at: closedAt,
  })
  return EXIT.done
}
