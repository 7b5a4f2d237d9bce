import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { type Emulator, startEmulator } from '../../emulator/emulator.ts'
import type { ReferenceChoice } from '../../src/config/config.ts'
import { addDays, type Day, dayOf } from '../../src/ground/days.ts'
import type { PrivacyMode } from '../../src/privacy/privacy-settings.ts'
import type { Stream } from '../../src/streams/collections.ts'
import { streams as catalogue } from '../../src/streams/streams.ts'
import { asOlder, type Choices, createChoices } from './choices.ts'
import { awaitsAudit, type Comparison, warehouseDifferences } from './comparison.ts'
import { disturb } from './disturb.ts'
import {
  BETWEEN_SYNCS,
  type Event,
  type Fault,
  type History,
  PRIVACY_KEY,
  type Protocol,
  rulesUnder,
  type Step,
  type Sync,
} from './history.ts'
import { runSync, type SyncRun } from './run-sync.ts'
import { createSyncRule, hasWrongList, mayLieBeyond } from './sync-rule.ts'
import { createTenant, type Tenant } from './tenant.ts'
import { createPlatform, type Platform } from './warehouses.ts'

/** A few syncs without a disturbance must be enough: the first may resume what was cut off. */
const QUIET_SYNCS = 4
/** All levels of the structure. */
const LEVELS: readonly number[] = [1, 2]
/** What the whole state may have. */
const MOST_CHARACTERS = 2_000_000
/** The cursor rises by a second with each sync, also while the service's clock stands still or goes back. */
const CURSOR_AHEAD_MS = 3_600_000
/** How far the service's clock may go back while a sync reads: four times by three hours. */
const MOST_BACK_MS = 12 * 3_600_000
/** The service forgets a delta after 72 hours, also one that nobody can use any more. */
const FORGET_HOURS = 73
/** Two audits by the default of `audit_days`, 7, and some time more. */
const AUDITS_WITHIN_HOURS = 20 * 24

/**
 * Runs a history and throws unless both warehouses equal the service: after each sync in the streams
 * that it completes, and after undisturbed syncs in all of them, first without the days before a
 * delta's window, which wait for their next listing, then with them.
 */
export async function runHistory(history: History, place: Protocol): Promise<void> {
  const emulator = await startEmulator(history.options)
  try {
    const streams = history.streams.map((name) => catalogue.get(name) as Stream)
    const tenant = createTenant(emulator, streams)
    const running: Running = {
      history,
      place,
      emulator,
      streams,
      tenant,
      platform: createPlatform(),
      settings: { future_days: 730, privacy_key: PRIVACY_KEY, ...history.settings },
      choices: createChoices(history.streams),
      wasWrong: false,
      completed: [],
      began: 0,
      latest: 0,
      hostTime: 0,
      lastDay: '9999-12-31',
    }
    for (const change of history.seeded) tenant.happen({ do: 'change', change })
    for (let i = 0; i < (history.crowd?.references ?? 0); i++)
      emulator.setReference(
        'people',
        `name${i}`,
        createHash('sha256').update(`${i}`).digest('hex'),
        1,
      )
    for (const step of history.steps) await take(step, running)
    running.choices.settle()
    tenant.happen({ do: 'date', to: undefined })
    await settle(running)
    refuse(toldDifferences(running, false))
    running.settings['history_refresh_days'] = 1
    // Also when the clock has been set back a few times, and after the time of the host.
    for (; emulator.now().getTime() < running.hostTime; await settle(running))
      emulator.advance({ hours: 40 })
    emulator.advance({ hours: 60 })
    const outcomes = await settle(running)
    refuse(toldDifferences(running, true))
    refuseRestarts(outcomes)
    await waitForAudits(running)
    refuse(warehouseDifferences({ ...comparisonOf(running), isHistoryFresh: true }))
  } finally {
    await emulator.close()
  }
}

/** Where the warehouses differ in what deltas or daily lists have told. */
function toldDifferences(running: Running, isHistoryFresh: boolean): string[] {
  const comparison = { ...comparisonOf(running), isHistoryFresh }
  const streams = running.streams.filter((stream) => !awaitsAudit(stream, comparison))
  return warehouseDifferences({ ...comparison, streams })
}

/**
 * What the deltas are silent about does not outlive two audits, of which the first may take its list for an old one. Syncs
 * are so close that no link expires.
 */
async function waitForAudits(running: Running): Promise<void> {
  const { streams, settings, emulator } = running
  const comparison = { ...comparisonOf(running), isHistoryFresh: true }
  if (!streams.some((stream) => awaitsAudit(stream, comparison))) return
  delete settings['audit_days']
  for (let hours = 0; hours < AUDITS_WITHIN_HOURS; hours += 40) {
    emulator.advance({ hours: 40 })
    const outcome = await quietSync(running)
    if (outcome.exitCode !== 0) throw new Error(`a quiet sync fails: ${outcome.said}`)
  }
}

interface Running {
  readonly history: History
  readonly place: Protocol
  readonly emulator: Emulator
  readonly streams: readonly Stream[]
  readonly tenant: Tenant
  readonly platform: Platform
  readonly settings: Record<string, unknown>
  readonly choices: Choices
  /** Whether a sync had a list that looked right and was not. */
  wasWrong: boolean
  /** The streams that the last sync read to their end. */
  completed: readonly string[]
  /** When the last sync began, in the service's milliseconds. */
  began: number
  /** The latest time of the service that a sync can know, in milliseconds. */
  latest: number
  /** When a sync last had only the time of the host, of which no older state knows; 0 if none had. */
  hostTime: number
  /** The earliest of the days to which syncs looked ahead. */
  lastDay: Day
}

async function take(step: Step, running: Running): Promise<void> {
  const { platform, tenant, place } = running
  if (step.do === 'sync') await disturbed(step, running)
  else if (step.do === 'environment' || (step.do === 'rewind' && hasLaterCursors(running))) return
  else if (step.do === 'rewind') platform.rewind(step.syncs, step.isKept)
  else if (step.do === 'configure') running.settings[step.setting.set] = step.setting.to
  else if (
    step.do === 'select' ||
    step.do === 'columns' ||
    step.do === 'address' ||
    step.do === 'version'
  )
    running.choices.take(step)
  else if (step.do === 'switch-mode') {
    if (place === 'singer') return
    platform.switchMode(streamAt(step.stream, running), step.isCleared)
  } else tenant.happen(step)
}

/** The clock was set back, so that a sync with an older state may have cursors below those of the rows. */
const hasLaterCursors = ({ hostTime, latest, emulator }: Running) =>
  hostTime > 0 || latest > emulator.now().getTime()

async function disturbed(sync: Sync, running: Running): Promise<void> {
  const { emulator, platform, tenant, streams, place } = running
  const happened: Event[] = []
  let requests = 0
  const stop = emulator.onRequest(() => {
    requests++
    for (const { atRequest, event } of sync.during) {
      if (atRequest !== requests) continue
      tenant.happen(event)
      happened.push(event)
    }
    // The clock may go on and back in one sync.
    running.latest = Math.max(running.latest, emulator.now().getTime())
  })
  for (const fault of sync.faults) if (!isHidden(fault, running)) disturb(fault, emulator, streams)
  platform.begin(running.choices.selected())
  emulator.advance(BETWEEN_SYNCS)
  running.began = emulator.now().getTime()
  const files = filesOf(running)
  const rule = createSyncRule(
    { ...comparisonOf(running), isHistoryFresh: false },
    sync,
    running.wasWrong,
  )
  running.wasWrong ||= hasWrongList(sync.faults)
  const newest = await runSync(place, { ...files, killAfter: sync.killAfter })
  const outcome = asOlder(newest, running.choices.unknownFields(running.settings))
  stop()
  emulator.clearFaults()
  refuse(platform.load(outcome, sync.kept))
  running.completed = outcome.completed
  refuse(clockFaults(outcome, running))
  refuse(trackingFaults(running))
  refuse(sizeFaults(files.state))
  refuse(outcome.errors.filter((message) => /Unexpected error|max_missing allows/.test(message)))
  refuse(rule.faults(outcome.completed, happened))
  // A tap says of all its streams at once whether they are complete.
  if (place !== 'singer')
    refuse(rule.refusals(running.choices.selected(), outcome.completed, happened))
}

/**
 * A first phase of a delta that leaves rows out, and nothing but an audit tells of them, or that has old versions, and its
 * link covers only what changes later.
 */
function isHidden({ kind, path, stream }: Fault, running: Running): boolean {
  const { stream: name, collection } = running.streams[stream % running.streams.length] as Stream
  const isOfDelta = path === 'list' || path === 'delta-start'
  if (kind === 'stale') return isOfDelta && running.emulator.options.deltaLinkCovers === 'issued'
  const isUnknown = !running.completed.includes(name) || running.tenant.silent.has(collection)
  const isShort = path === 'list' && (kind === 'short' || kind === 'empty')
  return isShort && (isUnknown || mayLieBeyond(name))
}

function streamAt(stream: number, { history: { streams } }: Running): string {
  return streams[stream % streams.length] as string
}

/** Undisturbed syncs until one changes nothing; in this process, where they are faster. */
async function settle(running: Running): Promise<SyncRun[]> {
  const { emulator } = running
  const outcomes: SyncRun[] = []
  for (let syncs = 0, blocked = 0; syncs < QUIET_SYNCS; ) {
    const before = rowsOf(running)
    const outcome = await quietSync(running)
    outcomes.push(outcome)
    if (outcome.exitCode !== 0) {
      if (readAsAdvised(outcome, running)) continue
      if (!isBlocked(outcome, running) || ++blocked > 2)
        throw new Error(`a quiet sync fails: ${outcome.said}`)
      emulator.advance({ hours: FORGET_HOURS })
      continue
    }
    // The first sync may only complete a list that was cut off, with rows as they were then.
    if (syncs > 0 && isDeepStrictEqual(before, rowsOf(running))) return outcomes
    syncs++
  }
  throw new Error(`after ${QUIET_SYNCS} quiet syncs the warehouse still changes`)
}

/**
 * A stream without a list cannot be refreshed if it begins before a delta's window: it is read as incremental from then on,
 * as the message advises. Returns false for any other failure.
 */
function readAsAdvised({ errors }: SyncRun, { platform }: Running): boolean {
  const streams = errors.map(
    (message) => /^(\w+): .* a full refresh would not have/.exec(message)?.[1],
  )
  if (streams.includes(undefined)) return false
  for (const stream of streams as string[]) platform.switchMode(stream, true)
  return true
}

/** An undisturbed sync of all streams; in this process, where it is faster. */
async function quietSync(running: Running): Promise<SyncRun> {
  const { emulator, platform, history, place } = running
  platform.begin(history.streams)
  emulator.advance(BETWEEN_SYNCS)
  running.began = emulator.now().getTime()
  const outcome = await runSync(place === 'executable' ? 'in-process' : place, filesOf(running))
  refuse(platform.load(outcome, 'everything'))
  refuse(clockFaults(outcome, running))
  return outcome
}

/**
 * A service may keep the first of two deltas, also one whose answer was lost, until it forgets it;
 * and a link that only a later, forgotten STATE has used looks like another consumer's doing. A job that was configured
 * otherwise meanwhile is not gone on with.
 */
function isBlocked({ errors }: SyncRun, { emulator, history }: Running): boolean {
  const { secondStart, usedDeltaLink } = emulator.options
  const isRewound = history.steps.some((step) => step.do === 'rewind')
  const mayConflict = secondStart === 'conflict' || (usedDeltaLink === 'conflict' && isRewound)
  return errors.every(
    (message) =>
      (mayConflict && message.includes('one active delta')) ||
      message.includes('An earlier attempt of this full refresh has written rows'),
  )
}

/** Records that carry a time of the host, which has nothing to do with that of the service. */
function clockFaults({ messages }: SyncRun, running: Running): string[] {
  if (running.place === 'singer') return []
  const { dateHeader } = running.emulator.options
  if (dateHeader !== undefined) {
    running.hostTime = Date.now()
    running.latest = Math.max(running.latest, Date.parse(dateHeader), Date.now())
    return []
  }
  const now = running.emulator.now().getTime()
  running.latest = Math.max(running.latest, now)
  const earliest = Math.min(now, running.began) - MOST_BACK_MS
  const latest = running.latest + CURSOR_AHEAD_MS
  return messages.flatMap(({ record }) =>
    record === undefined || (record.emitted_at >= earliest && record.emitted_at <= latest)
      ? []
      : [`${record.stream} ${record.data['id']} was emitted at ${record.emitted_at}, not now`],
  )
}

/** Sets of ids that were given up though the state has room for them: nothing would be deleted any more. */
function trackingFaults({ history, platform }: Running): string[] {
  if (history.crowd !== undefined) return []
  return history.streams
    .filter((stream) => platform.stateOf(stream)?.tracked === false)
    .map((stream) => `the state has given up the ids of ${stream}`)
}

/** Orchestrators pass on no more. */
function sizeFaults(state: readonly object[]): string[] {
  const size = JSON.stringify(state).length
  return size <= MOST_CHARACTERS ? [] : [`the whole state has ${size} characters`]
}

function rowsOf({ platform, history }: Running) {
  return platform.warehouses.map((warehouse) =>
    history.streams.map((stream) => warehouse.rows(stream)),
  )
}

function refuse(faults: readonly string[]): void {
  if (faults.length > 0) throw new Error(faults.join('\n'))
}

function comparisonOf(running: Running): Omit<Comparison, 'isHistoryFresh'> {
  const { emulator, platform, tenant, streams, settings, choices, history, lastDay } = running
  const wanted = settings['external_references'] as readonly ReferenceChoice[]
  const pairs = wanted.flatMap(({ collection, names }) =>
    names.map((name) => ({ collection, name })),
  )
  return {
    ...{ emulator, platform, streams, lastDay },
    requested: pairs,
    references: areReferencesStable(history) ? pairs : undefined,
    rulesOf: rulesUnder((settings['personal_data'] ?? 'complete') as PrivacyMode),
    columns: choices.comparedColumns(settings),
    levels: (settings['activity_structures'] ?? LEVELS) as readonly number[],
    silent: tenant.silent,
    restored: tenant.restored,
  }
}

/** Embedded references may change without a change of the record, and nobody would tell. */
function areReferencesStable({ streams, steps }: History): boolean {
  const events = steps.flatMap((step): (Step | Event)[] =>
    step.do === 'sync' ? step.during.map(({ event }) => event) : [step],
  )
  const isChanged = events.some((event) => event.do === 'reference')
  return !isChanged && !streams.includes('people') && !streams.includes('external_references')
}

/** Nothing has happened that would be a reason to read from the beginning, unless a delta was in the way. */
function refuseRestarts(outcomes: readonly SyncRun[]): void {
  for (const { exitCode, said: text } of outcomes) {
    if (exitCode !== 0) return
    if (text.includes('read from the beginning'))
      throw new Error(`a quiet sync starts over: ${text}`)
  }
}

function filesOf(running: Running) {
  const { emulator, settings, platform } = running
  const ahead = addDays(dayOf(emulator.now()), settings['future_days'] as number)
  if (ahead < running.lastDay) running.lastDay = ahead
  const { activity_structures: levels = LEVELS, ...others } = settings
  const config = {
    ...emulator.config(running.choices.host),
    activity_structures: emulator.activityStructures.filter(({ level }) =>
      (levels as readonly number[]).includes(level),
    ),
    concurrency: 1,
    request_timeout_seconds: 5,
    ...others,
  }
  const catalog = running.choices.selected().map((name) => ({
    name,
    sync_mode: platform.modeOf(name),
    generation: platform.generationOf(name),
    ...running.choices.columnsOf(name),
  }))
  return { config, catalog, state: [...platform.state, ...unread(running.history)] }
}

/** The state of a stream that was selected once. */
function unread({ crowd }: History): object[] {
  if (crowd === undefined) return []
  const stream = {
    stream_descriptor: { name: 'counter_groups' },
    stream_state: { ids: 'x'.repeat(crowd.kept) },
  }
  return [{ type: 'STREAM', stream }]
}
