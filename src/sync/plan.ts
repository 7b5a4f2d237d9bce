import { earlier, isLater } from '../ground/days.ts'
import { ConnectorError } from '../ground/errors.ts'
import { type IdentifiedMessage, warningOf } from '../ground/message-ids.ts'
import type { DeadLinkError } from '../pages/page-failures.ts'
import type { StreamStart } from '../protocol/connector.ts'
import { charactersOf } from '../rows/stored-keys.ts'
import type { Stream } from '../streams/collections.ts'
import { isOfDelta, type Position } from './position.ts'
import { addedFields, readState, type StoredState } from './stored-state.ts'
import { continued, fromBeginning } from './stream-start.ts'
import {
  createStreamState,
  type StartOver,
  type StateTools,
  type StreamState,
} from './stream-state.ts'
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
  const stored = readState(task.storedState)
  const begin = (beginning: Beginning, cursor = 0): Decision => {
    return { do: 'begin', ...beginning, cursor, identity }
  }
  if (stored === 'none') return begin({ why: whyFirst(task), replacesOlder: true })
  if ('unreadable' in stored) return begin(notUsable(stored.unreadable))
  if (!fits(stored, task.stream)) return begin(notUsable(OF_ANOTHER_STREAM))
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

const OF_ANOTHER_STREAM = 'it belongs to a stream that is read in another way'

/** Whether the state belongs to a stream that is read in the same way. */
function fits({ start, position }: StoredState, { dateField, replication }: Stream): boolean {
  const isDated = start !== null
  return isDated === (dateField !== undefined) && (replication === 'delta' || !isOfDelta(position))
}

/** Whether the state belongs to another full refresh, whose rows the destination does not keep. */
function isOfOtherRefresh({ mode, refresh }: StoredState, task: StreamTask): boolean {
  const isKnown = refresh !== null && task.refresh !== undefined
  return mode === 'full_refresh' && isKnown && refresh !== task.refresh
}

/** Whether an earlier attempt of the same full refresh has written rows, which stay beside the new ones. */
function isBegunRefresh(stored: StoredState, task: StreamTask): boolean {
  const { mode, refresh, isSettled, wholeRows, rowsSoFar, keys } = stored
  const isSame = mode === 'full_refresh' && refresh === task.refresh
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
  isQuiet: true,
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

/** Why a stream starts over after a link has died. */
export function reasonOfDeadLink(error: DeadLinkError, position: Position, now: Date): StartOver {
  // The consequence is appended to the same sentence.
  const details = error.message.replace(/\.$/, '')
  const reason = (why: string, message: string): StartOver => ({
    why,
    message: `${message} ${details}`,
    isDeadLink: true,
  })
  if (error.why === 'used')
    return reason('lost response', 'its link is used up, because the response to it was lost.')
  if (error.why === 'unusable') return reason('unusable link', 'its link cannot be used any more.')
  const at = position.phase === 'list' ? null : deltaTime(position)
  if (at === null) return reason('expired link', 'its link has expired.')
  const hours = Math.max(0, (now.getTime() - at.getTime()) / 3_600_000)
  const text = `its delta has ended, although its link is only ${hours.toFixed(1)} hours old.`
  return { ...reason('ended delta', text), isQuiet: true }
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

/**
 * Creates the state of a read before its first request, according to a decision. Logs why the stream starts over;
 * throws if it must not be read.
 */
export function plan(decision: Decision, task: StreamTask, tools: StateTools): StreamState {
  if (decision.do === 'refuse') throw decision.error
  const begin = ({ why, warning, replacesOlder }: Beginning, cursor: number) => {
    if (warning !== undefined) tools.log.warn(warning)
    // The warehouse may have rows of people who are left out now.
    const isSuppressionNew = task.mode === 'incremental' && warning !== undefined && replacesOlder
    const values = { ...decision.identity, replacesOlder, cursor, isSuppressionNew }
    return createStreamState({ values, from: why }, task, tools)
  }
  if (decision.do === 'begin') return begin(decision, decision.cursor)
  const { stored, startOver, identity } = decision
  const { start, cursor } = stored
  let state: StreamState
  try {
    state = createStreamState({ values: { ...identity, start, cursor }, from: stored }, task, tools)
  } catch {
    return begin(notUsable('its set of ids is damaged'), cursor)
  }
  // Without a page, the first phase is read from its beginning, so the rows that it had found may have been deleted.
  if (state.position.phase === 'initial' && state.position.page === null) state.keys.beginReading()
  if (startOver !== undefined) state.startOver(startOver, earlier(identity.start, start))
  return state
}

/** The number of characters in the state for the sets of ids from which the stream continues. */
export function storedCharacters(decision: Decision): number {
  if (decision.do === 'begin') return 0
  return charactersOf(decision.stored.keys)
}

/** Whether the stream continues a delta that an earlier sync began. */
export function continuesDelta({ decision }: { readonly decision: Decision }): boolean {
  if (decision.do !== 'restore' || decision.startOver !== undefined) return false
  return isOfDelta(decision.stored.position)
}

/** Where the reading of the stream starts, for the progress of the sync. */
export function startOf(decision: Decision): StreamStart {
  if (decision.do === 'begin') return fromBeginning(decision.why, null)
  const { stored } = decision
  if (decision.do === 'refuse' || decision.startOver === undefined) return continued(stored)
  return fromBeginning(decision.startOver.why, stored.wholeRows)
}
