import type { Config } from '../config/config.ts'
import { earlier, isLater } from '../ground/days.ts'
import { ConnectorError } from '../ground/errors.ts'
import { type IdentifiedMessage, warningOf } from '../ground/message-ids.ts'
import type { StreamStart } from '../protocol/connector.ts'
import { charactersOf, type IdBudget } from '../rows/stored-keys.ts'
import type { Stream } from '../streams/collections.ts'
import type { StreamLog } from './notices.ts'
import { isOfDelta, type Position } from './position.ts'
import { addedFields, readState, type StoredState, writeFields } from './stored-state.ts'
import { createStreamState, type StartOver, type StreamState, streamStart } from './stream-state.ts'
import {
  type DecisionSettings,
  type Identity,
  identityOf,
  isOfOtherTenant,
  type StreamTask,
} from './stream-task.ts'

/** Why a stream begins without its stored state, and what follows from that. */
interface Beginning {
  readonly why: string
  readonly warning?: IdentifiedMessage
  readonly replacesOlder: boolean
}

/** How a stream is read. */
export type Decision =
  | (Beginning & {
      readonly do: 'begin'
      /** See `StoredState.cursor`; it is kept even if the rest of the state cannot be used. */
      readonly cursor: number
      readonly identity: Identity
    })
  | {
      readonly do: 'restore'
      readonly stored: StoredState
      /** Set if the stored read cannot be continued. The keys it has found are still used to find deletions. */
      readonly startOver?: StartOver
      readonly identity: Identity
    }
  /** The stream is not read, because the rows of its full refresh so far would not fit the new ones. */
  | { readonly do: 'refuse'; readonly stored: StoredState; readonly error: ConnectorError }

/** How long a delta link is valid: since its last request, or since it was sent (docs/service.md, "Expiry"). */
export const DELTA_LIFE_HOURS = 72

/** The most fields that a message names. */
const MOST_NAMED = 5

/** The consequence of reading a stream without the ids of the previous read. */
const WITHOUT_IDS =
  'the stream is read from the beginning. Rows that were deleted meanwhile may remain; _generation tells them apart.'

/** Decides, without any request, whether a stream continues from its stored state, and if not, why. */
export function decide(task: StreamTask, settings: DecisionSettings): Decision {
  const identity = identityOf(task, settings)
  const stored = fitting(readState(task.storedState), task.stream)
  const begin = (beginning: Beginning, cursor = 0): Decision => {
    return { do: 'begin', ...beginning, cursor, identity }
  }
  if (stored === 'none') return begin({ why: whyFirst(task), replacesOlder: true })
  if ('unreadable' in stored) return begin(notUsable(stored.unreadable))
  if (stored.mode !== task.mode) return begin(MODE_CHANGED, stored.cursor)
  const isBegun = isBegunRefresh(stored, task)
  if (isOfOtherTenant(stored, identity, settings))
    return isBegun ? refusal(stored, OTHER_TENANT) : begin(OF_OTHER_TENANT, stored.cursor)
  const startOver = reasonToStartOver(stored, task, identity, settings.now)
  if (startOver === undefined) return { do: 'restore', stored, identity }
  return isBegun
    ? refusal(stored, startOver.message)
    : { do: 'restore', stored, identity, startOver }
}

/** Why a stream without a stored state is read. */
function whyFirst({ mode, byLists }: StreamTask): string {
  if (byLists !== undefined) return 'full list, no delta'
  return mode === 'full_refresh' ? 'full refresh' : 'first sync'
}

function notUsable(reason: string): Beginning {
  const message = `the stored state cannot be used, ${reason}; ${WITHOUT_IDS}`
  return {
    why: 'no usable state',
    warning: warningOf('state-not-usable', message),
    replacesOlder: true,
  }
}

const MODE_CHANGED: Beginning = {
  why: 'other sync mode',
  warning: warningOf('sync-mode-changed', `the sync mode has changed; ${WITHOUT_IDS}`),
  replacesOlder: true,
}

const OTHER_TENANT = 'the stored state is of another tenant or environment'

const OF_OTHER_TENANT: Beginning = {
  why: 'other tenant',
  warning: warningOf(
    'state-of-another-tenant',
    `${OTHER_TENANT}; the stream is read from the beginning and nothing is deleted, because the rows in the warehouse may be another tenant's.`,
  ),
  replacesOlder: false,
}

/** Rejects a state that belongs to a stream that is read in another way. */
function fitting(
  stored: ReturnType<typeof readState>,
  stream: Stream,
): ReturnType<typeof readState> {
  if (stored === 'none' || 'unreadable' in stored) return stored
  const isDated = stored.start !== null
  const isOther = isOfDelta(stored.position) && stream.replication !== 'delta'
  if (isDated === (stream.dateField !== undefined) && !isOther) return stored
  return { unreadable: 'it belongs to a stream that is read in another way' }
}

/** Whether the state belongs to another full refresh, whose rows the destination does not keep. */
function isOfOtherRefresh({ mode, refresh }: StoredState, task: StreamTask): boolean {
  const isKnown = refresh !== null && task.refresh !== undefined
  return mode === 'full_refresh' && isKnown && refresh !== task.refresh
}

/** Whether an earlier attempt of the same full refresh has written rows, which stay beside the new ones. */
function isBegunRefresh(stored: StoredState, task: StreamTask): boolean {
  const { mode, refresh, isSettled, wholeRows, rowsSoFar, keys } = stored
  const isSame = mode === 'full_refresh' && refresh !== null && refresh === task.refresh
  const rows = isSettled ? wholeRows : rowsSoFar
  // After a dead link, the rows are counted again from 0.
  return isSame && (rows !== 0 || keys.window !== null || !keys.isTracked)
}

/** Refuses to continue a full refresh whose rows so far would not fit the new ones. */
function refusal(stored: StoredState, message: string): Decision {
  const error = new ConnectorError(
    'config',
    'refresh-begun-otherwise',
    `An earlier attempt of this full refresh has written rows, but ${message}. The destination would keep the rows of both attempts, so nothing is read. Sync again: the next job has another generation_id, and reads everything again. If your platform gives each job the same one, clear the state of the stream.`,
  )
  return { do: 'refuse', stored, error }
}

/** The reason if a full refresh was requested. */
const ASKED_FOR: StartOver = {
  why: 'full refresh',
  message: 'a full refresh was asked for',
  isExpected: true,
}

/** Why a stream starts over although its state is its own; undefined if it continues. */
function reasonToStartOver(
  stored: StoredState,
  task: StreamTask,
  identity: Identity,
  now: Date,
): StartOver | undefined {
  if (task.startOver !== undefined || isOfOtherRefresh(stored, task)) return ASKED_FOR
  return (
    reasonInSettings(stored, identity) ??
    reasonInAge(stored, now) ??
    reasonInFields(stored, task.fields)
  )
}

function reasonInSettings(stored: StoredState, identity: Identity): StartOver | undefined {
  if (stored.service !== identity.service) {
    return {
      why: 'other address',
      message: 'the tenant has another address or API name than at the last sync',
    }
  }
  if (stored.settings !== identity.settings) {
    return {
      why: 'other settings',
      message:
        'the external references, activity structures or treatment of personal data in the configuration have changed',
    }
  }
  if (isLater(stored.start, identity.start)) {
    return {
      why: 'earlier start date',
      message: `the start date has moved back from ${stored.start} to ${identity.start}`,
    }
  }
  return undefined
}

function reasonInAge({ position }: StoredState, now: Date): StartOver | undefined {
  const at = deltaTime(position)
  const hours = at === null ? 0 : (now.getTime() - at.getTime()) / 3_600_000
  if (hours <= DELTA_LIFE_HOURS) return undefined
  return {
    why: 'expired link',
    message: `its link to the service is ${Math.floor(hours)} hours old, and the service forgets a delta after ${DELTA_LIFE_HOURS} hours`,
  }
}

/**
 * Why a new field makes a stream start over: unchanged rows are not sent again, so they would never get the field.
 */
function reasonInFields(
  { fields: before }: StoredState,
  now: StreamTask['fields'],
): StartOver | undefined {
  const added = addedFields(before, now)
  if (added === undefined) return undefined
  const named = added.slice(0, MOST_NAMED).join(', ')
  const more = added.length > MOST_NAMED ? ` and ${added.length - MOST_NAMED} more` : ''
  return {
    why: 'other fields',
    message: `its records now have fields that they did not have at the last sync, ${named}${more}`,
  }
}

/** When the service sent the link with which the delta continues; null if there is none. */
function deltaTime(position: Position): Date | null {
  switch (position.phase) {
    case 'initial':
      return position.page?.at ?? null
    case 'list':
      return position.history?.changes.delta.at ?? null
    case 'changes':
      return position.delta.at
    default:
      return null
  }
}

/** What the plan of a stream depends on. */
export interface PlanSettings {
  readonly config: Config
  /** The service's time. */
  readonly now: Date
  readonly log: StreamLog
  /** Shared by all streams of the sync. */
  readonly ids: IdBudget
}

/**
 * Creates the state of a read before its first request, according to a decision. Logs why the stream starts over;
 * throws if it must not be read.
 */
export function plan(decision: Decision, task: StreamTask, settings: PlanSettings): StreamState {
  const { config, log, now } = settings
  if (decision.do === 'refuse') throw decision.error
  const state =
    decision.do === 'begin' ? begun(decision, task, settings) : restored(decision, task, settings)
  if (decision.do === 'begin' || !state.isContinued) return state
  // Without a page, the first phase is read from its beginning, so the rows that it had found may have been deleted.
  if (state.position.phase === 'initial' && state.position.page === null) state.keys.beginReading()
  const { stored, startOver, identity } = decision
  if (isLater(identity.start, stored.start) && config.startDate !== undefined) {
    log.warn(
      warningOf(
        'start-date-later',
        `the start date is now ${identity.start}, but the warehouse holds rows from ${stored.start} on; they stay and are kept up to date.`,
      ),
    )
  }
  if (startOver !== undefined)
    state.startOver(startOver, now, earlier(identity.start, stored.start))
  return state
}

type Of<Do extends Decision['do']> = Extract<Decision, { readonly do: Do }>

function begun(
  { why, warning, replacesOlder, cursor, identity }: Omit<Of<'begin'>, 'do'>,
  task: StreamTask,
  settings: PlanSettings,
): StreamState {
  if (warning !== undefined) settings.log.warn(warning)
  return createStreamState({
    ...settingsOf(task, settings),
    ...identity,
    why,
    replacesOlder,
    cursor,
  })
}

/** Restores a read with the current settings; if they have changed, the stream starts over. */
function restored(
  { stored, identity }: Of<'restore'>,
  task: StreamTask,
  settings: PlanSettings,
): StreamState {
  const { start, cursor } = stored
  try {
    return createStreamState({ ...settingsOf(task, settings), ...identity, start, cursor }, stored)
  } catch {
    return begun({ ...notUsable('its set of ids is damaged'), cursor, identity }, task, settings)
  }
}

function settingsOf(
  { stream, mode, refresh, byLists, fields }: StreamTask,
  { now, log, ids }: PlanSettings,
) {
  return { stream, mode, refresh, byLists, fields: writeFields(fields), now, log, ids }
}

/** The number of characters in the state for the sets of ids from which the stream continues. */
export function storedCharacters(decision: Decision): number {
  if (decision.do === 'begin') return 0
  return charactersOf(decision.stored.keys)
}

/** Whether the stream continues a delta that an earlier sync began. */
export function continuesDelta(decision: Decision): boolean {
  if (decision.do !== 'restore' || decision.startOver !== undefined) return false
  return isOfDelta(decision.stored.position)
}

/** Where the reading of the stream starts, for observers. */
export function startOf(decision: Decision): StreamStart {
  if (decision.do === 'begin') return streamStart(undefined, decision.why)
  return streamStart(decision.stored, 'startOver' in decision ? decision.startOver?.why : undefined)
}
