import { addDays, type DayRange } from '../ground/days.ts'
import { warningOf } from '../ground/message-ids.ts'
import { many } from '../protocol/progress/sync-progress.ts'
import { countLacking, daysOf } from './comparison.ts'
import { followChanges } from './delta.ts'
import type { Compared, ComparisonReason } from './due.ts'
import type { StreamContext } from './emit.ts'
import { readExtraLists } from './lists.ts'
import { changesAfter } from './position.ts'

/**
 * Compares the rows that the delta has reported with lists, and writes what differs.
 *
 * The changes have just been followed. The days are listed, and the changes are followed again: a row that they do not
 * name has not changed in between, so the list must show it as the warehouse has it. Parts that differ are listed a
 * second time, and rows that are equal in both lists are written. Rows that no list has are unconfirmed afterwards.
 * A sync that dies during it leaves nothing behind: the next one compares again.
 *
 * Returns undefined if there was no list that can be compared. That is no failure of the stream, and the attempt counts;
 * if changes may have been lost, there is another one a day later.
 */
export async function reconcile(
  reason: ComparisonReason,
  context: StreamContext,
): Promise<Compared | undefined> {
  const { state, log, clock, parts, lastDay } = context
  const { stream, keys, start, position } = state
  const begunAt = clock.now()
  const { lostResponses } = state
  const attempt = (isCompared: boolean) => {
    const isLost = state.lostResponses > lostResponses
    const mayLackChanges = isLost || (!isCompared && state.mayLackChanges)
    return {
      comparedAt: isLost ? null : begunAt,
      ...(reason === 'audit' && { auditedAt: begunAt, mayLackChanges }),
    }
  }
  const window = changesAfter(position)?.window ?? null
  const until = reason === 'audit' ? lastDay : addDays(window ?? '', -1)
  const range = start === null ? null : { from: start, until }
  log.info(
    reason === 'audit'
      ? `${stream.stream}: its audit is due, so the whole stream is listed.`
      : `${stream.stream}: the days before ${window} are due, so they are listed.`,
  )
  if (!(await listBetweenChanges(reason, range, context))) {
    parts.end()
    state.note(attempt(false))
    return undefined
  }
  const isRepaired = await writeParts(range, context)
  const notListed = new Set(keys.endSeek())
  const changes = changesAfter(state.position)
  if (changes !== undefined && isRepaired)
    state.moveTo({ phase: 'complete', next: { ...changes, historyAt: begunAt } })
  const isOther = (part: string) =>
    reason === 'history' &&
    range !== null &&
    (part < range.from.slice(0, 7) || part > until.slice(0, 7))
  const others = [...state.auditedParts].filter(([part]) => isOther(part))
  keys.forgetWritten(reason === 'audit' ? undefined : parts.keys())
  state.note({
    ...attempt(isRepaired),
    auditedParts: new Map([...others, ...parts.fingerprints()]),
  })
  return { reason, missing: parts.confirmed('missing'), newer: parts.confirmed('newer'), notListed }
}

/**
 * Lists the days between two reads of the changes, without writing anything. Returns false, and logs why, if there is no
 * list that can be compared.
 */
async function listBetweenChanges(
  reason: ComparisonReason,
  range: DayRange | null,
  context: StreamContext,
): Promise<boolean> {
  const { state, log, parts, inventory } = context
  const { stream, keys } = state
  for (let isAgain = false; ; isAgain = true) {
    const watched = state.latestChanges
    const { mayHave, wasWritten, highestVersion } = keys
    keys.seek(reason === 'history' ? 'history' : undefined)
    parts.begin(range, inventory !== undefined, { mayHave, wasWritten, highestVersion, watched })
    const outcome = await readExtraLists({ purpose: 'comparison', range }, context)
    if (outcome === 'not offered')
      log.info(
        `${stream.stream}: the service offers no list of this stream, so it cannot be audited.`,
      )
    if (outcome !== 'read') return false
    await followChanges(context)
    const window = changesAfter(state.position)?.window ?? null
    const lacking = countLacking(watched, { range, window, keys, parts })
    if (lacking === 0) return true
    const what = `${stream.stream}: the list of the audit is older than what the delta has reported: it lacks ${many(lacking, 'change')} of the latest`
    if (isAgain) {
      // If the next list lacks them, too, it does not come from an old copy: no copy is days behind.
      state.note({ latestChanges: new Map() })
      log.warn(
        warningOf(
          'list-lags-behind',
          `${what}, and so did the one before it. Nothing is written or deleted; the next audit takes its list as it is.`,
        ),
      )
      return false
    }
    log.info(`${what}, so it is listed once more.`)
  }
}

/**
 * Lists the parts that differ a second time, and writes the rows that are equal in both lists. Returns false if a list could
 * not be read.
 */
async function writeParts(range: DayRange | null, context: StreamContext): Promise<boolean> {
  const { state, parts } = context
  const chosen = parts.choose(state.auditedParts)
  if (chosen.size === 0) return true
  // If this sync dies, the next one knows only that it may have written some of their rows.
  state.note({
    auditedParts: new Map([...state.auditedParts].filter(([part]) => !chosen.has(part))),
  })
  const ranges = range === null ? [null] : daysOf(chosen, range)
  for (const days of ranges)
    if ((await readExtraLists({ purpose: 'repair', range: days }, context)) !== 'read') return false
  return true
}
