import { ConnectorError } from '../ground/errors.ts'
import type { Log } from '../protocol/connector.ts'
import { withLanding } from './change-history.ts'
import { historySpan } from './history.ts'
import type { Landing, Owner, Patience } from './landing.ts'

/** A month, as a period that is closed. Days are ISO texts. */
export interface Period {
  /** Such as 2026-10. */
  readonly period: string
  readonly firstDay: string
  readonly lastDay: string
  /** The first day that is not in it. */
  readonly end: string
}

/** The month of a text such as 2026-10; undefined for any other text. */
export function monthOf(text: string): Period | undefined {
  if (!/^[1-9]\d{3}-(0[1-9]|1[0-2])$/.test(text)) return undefined
  const firstDay = `${text}-01`
  const first = new Date(firstDay)
  const day = (months: number, days: number) =>
    new Date(Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + months, days))
      .toISOString()
      .slice(0, 10)
  return { period: text, firstDay, lastDay: day(1, 0), end: day(1, 1) }
}

/** The period and the warehouse that it is closed in. */
export interface CloseSettings {
  readonly path: string
  readonly owner: Owner
  readonly period: Period
  /** The streams that must have been read. */
  readonly streams: readonly string[]
  readonly now: Date
  readonly patience: Patience
  readonly log: Log
}

/**
 * Closes a period: from now on, corrections are what differs from the last commit. Returns the moment of that commit. Throws a
 * config error if nobody could say later what the period was, or if it is not all there.
 */
export async function closePeriod(settings: CloseSettings): Promise<string> {
  const { path, owner, patience, log } = settings
  return withLanding({ path, owner, patience, log }, (landing) => close(landing, settings))
}

async function close(landing: Landing, settings: CloseSettings): Promise<string> {
  const { literal, momentText, schemas } = landing.sql
  const { period, firstDay, lastDay } = settings.period
  await assertClosable(landing, settings)
  const [[moment] = []] = await landing.query(
    `SELECT ${momentText('owner.moment')} FROM ${schemas.account}.owner AS owner`,
  )
  await landing.run(`INSERT INTO ${schemas.account}.closes VALUES (${literal(period)},
    CAST(${literal(firstDay)} AS DATE), CAST(${literal(lastDay)} AS DATE), CAST(${literal(String(moment))} AS TIMESTAMPTZ))`)
  return String(moment)
}

async function assertClosable(
  landing: Landing,
  { path, period: { period, lastDay, end }, streams, now }: CloseSettings,
): Promise<void> {
  const { schemas, momentText } = landing.sql
  if ((await historySpan(landing)) === undefined)
    throw refused(
      'no-history',
      `${path} keeps no history, so nobody could say later what has changed since a close. Turn it on with protime history on, and run protime sync.`,
    )
  if (now.toISOString() < end)
    throw refused('period-not-over', `${period} is not over: its last day is ${lastDay}.`)
  // Later ones have begun earlier if the clock was set back.
  const syncs = `${schemas.account}.syncs`
  const [[failed] = []] = await landing.query(
    `SELECT ${momentText('min(later.began)')} FROM ${syncs} AS later
      WHERE later.number >= (SELECT max(syncs.number) FROM ${syncs} AS syncs WHERE syncs.exit IS DISTINCT FROM 0)`,
  )
  const known = await landing.query(
    `SELECT known.stream, ${momentText('known.last_complete')} FROM ${schemas.account}.streams AS known
      WHERE known.known_since IS NOT NULL`,
  )
  const readAt = new Map(known.map(([stream, at]) => [stream, at ?? '']))
  // A sync that has failed may have read a part of any stream; later ones may have been of other streams.
  for (const [since, told] of [
    [end, `${period} was over`],
    [failed ?? '', `the sync of ${failed}, which has failed or has not ended`],
  ] as const) {
    const unread = streams.filter((stream) => (readAt.get(stream) ?? '') < since)
    if (unread.length > 0)
      throw refused(
        'period-not-read',
        `${unread.join(', ')}: not completed since ${told}. Run protime sync, then close ${period}.`,
      )
  }
}

function refused(
  id: 'no-history' | 'period-not-over' | 'period-not-read',
  message: string,
): ConnectorError {
  return new ConnectorError('config', id, message)
}
