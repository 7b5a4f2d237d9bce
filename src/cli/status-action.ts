import { INVENTORY, streams as knownStreams } from '../streams/streams.ts'
import { DELTA_LIFE_HOURS } from '../sync/plan.ts'
import { createPatience } from '../warehouse/patience.ts'
import { readStatus, type StreamAge, type WarehouseAge } from '../warehouse/status.ts'
import { type BareTools, EXIT, type ExitCode } from './command.ts'
import { recordTable, widthOf } from './record-table.ts'

const HOUR_MS = 3_600_000
/** The options of a command that reads a warehouse. */
export interface StatusOptions {
  readonly warehouse: string
  readonly json?: boolean
}

/**
 * Prints how old the rows of each stream are, and how the next sync will read it. The exit code says whether the last sync
 * has succeeded.
 */
export async function status(
  { warehouse, json = false }: StatusOptions,
  now: Date,
  { print, ...tools }: Pick<BareTools, 'log' | 'signal' | 'print'>,
): Promise<ExitCode> {
  const found = await readStatus(warehouse, createPatience(0, tools))
  const streams = found.streams.map((one) => ({ ...one, nextSync: nextOf(one, now) }))
  const text = () => `${statusText(found, now, widthOf(process.stdout))}\n`
  await print(json ? JSON.stringify({ ...found, streams }) : text())
  return found.sync?.exit === EXIT.done ? EXIT.done : EXIT.failed
}

/** The account of a warehouse as text: its tenant, its last sync, and a line for each stream. */
export function statusText(found: WarehouseAge, now: Date, width: number): string {
  const { tenant, environment, sync, streams } = found
  const rows = streams.map(({ stream, rows, lastComplete, failure, failureId }) =>
    JSON.stringify({
      stream,
      rows,
      'last complete': lastComplete ?? 'never',
      age: ageOf(lastComplete, now),
      'next sync': nextOf({ stream, lastComplete }, now),
      failure: failureId === undefined ? failure : `${failureId}: ${failure}`,
    }),
  )
  return [
    `tenant ${tenant}, ${environment}`,
    `last sync: ${sync === undefined ? 'none' : syncText(sync)}`,
    recordTable(rows, width),
  ].join('\n')
}

function syncText({ began, ended, exit, rewrite }: NonNullable<WarehouseAge['sync']>): string {
  const text =
    ended === undefined
      ? `began ${began}, and has not ended or was killed`
      : `${began} to ${ended}, exit code ${exit}`
  return rewrite === undefined ? text : `${text} (--rewrite, into ${rewrite})`
}

function ageOf(time: string | undefined, now: Date): string {
  if (time === undefined) return ''
  const hours = Math.max(0, now.getTime() - Date.parse(time)) / HOUR_MS
  return hours < 48 ? `${Math.floor(hours)} h` : `${Math.floor(hours / 24)} days`
}

/** How the next sync will read a stream, as far as its age shows that. */
function nextOf(
  { stream, lastComplete }: Pick<StreamAge, 'stream' | 'lastComplete'>,
  now: Date,
): string {
  if (stream === INVENTORY.stream) return 'at the end of each sync'
  const known = knownStreams.get(stream)
  if (known === undefined) return 'no longer known'
  if (lastComplete === undefined) return 'first read'
  if (known.replication !== 'delta') return 'whole list'
  const isExpired = now.getTime() - Date.parse(lastComplete) > DELTA_LIFE_HOURS * HOUR_MS
  return isExpired ? 'from the beginning: expired link' : 'changes'
}
