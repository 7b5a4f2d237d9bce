import { isDeepStrictEqual } from 'node:util'
import { type Emulator, startEmulator } from '../../emulator/emulator.ts'
import type { ReferenceChoice } from '../../src/config/config.ts'
import type { PrivacyMode } from '../../src/privacy/privacy-settings.ts'
import type { Stream } from '../../src/streams/collection.ts'
import { streams as catalogue } from '../../src/streams/streams.ts'
import { addDays, type Day, dayOf } from '../../src/sync/days.ts'
import { type AirbyteRun, run } from '../testing/run.ts'
import { keyOf } from '../testing/warehouse.ts'
import {
  BETWEEN_SYNCS,
  type Event,
  type Fault,
  type History,
  inPlace,
  type Place,
  PRIVACY_KEY,
  rulesUnder,
  type Step,
  type Sync,
} from './history.ts'
import { createTenant, type Tenant } from './tenant.ts'
import {
  type Comparison,
  completed,
  createPlatform,
  isCompared,
  type Platform,
  type StreamState,
  truthOf,
  warehouseDifferences,
} from './warehouses.ts'

type Row = Readonly<Record<string, unknown>>

/** What holds of each sync, by how service and warehouses were before it. */
interface SyncRule {
  /** What is wrong in streams that the sync says it has completed, in words, after these events. */
  faults(completed: readonly string[], events: readonly Event[]): string[]
}

interface Before {
  /** Rows that both warehouses held in the version of the service. */
  readonly held: ReadonlyMap<string, Row>
  readonly listedAt: string | null | undefined
  /** Whether a listing of the history was under way: it ends with rows of then. */
  readonly isListing: boolean
  /** Whether a full refresh was under way: it ends with rows of both attempts, each sent once. */
  readonly isRefreshing: boolean
}

/** Answers to a list or delta by which the connector may believe that it is not offered. */
const REFUSALS: ReadonlySet<unknown> = new Set([400, 404, 409])

/**
 * A completed stream that nobody touched meanwhile equals the service, unless a part of it was
 * refused; and whatever nobody touched and the warehouse had is still there.
 */
function createSyncRule(comparison: Comparison, { faults: disturbances }: Sync): SyncRule {
  const { platform, streams } = comparison
  const isRefused = disturbances.some(({ kind }) => REFUSALS.has(kind))
  const before = new Map<string, Before>(
    streams.map((stream) => [
      stream.stream,
      {
        held: right(stream, truthOf(stream, comparison)),
        listedAt: platform.stateOf(stream.stream)?.backfilled_at,
        isListing: platform.stateOf(stream.stream)?.phase === 'backfill',
        isRefreshing: isRefreshing(platform.stateOf(stream.stream)),
      },
    ]),
  )
  return {
    faults: (completed, events) =>
      streams
        .filter(({ stream }) => completed.includes(stream))
        .flatMap((stream) => faultsOf(stream, isTouched(stream, events))),
  }

  function faultsOf(stream: Stream, isTouched: boolean): string[] {
    const { held, listedAt, isListing, isRefreshing } = before.get(stream.stream) as Before
    // A reference has no version by which one that went and came again could be told.
    if (stream.versioned === false && isTouched) return []
    // A full refresh knows nothing of the references that it was refused, and says so by a WARN.
    const isReferences = stream.nested === 'referenced_collections'
    if (isReferences && isRefused && platform.modeOf(stream.stream) === 'full_refresh') return []
    if (isTouched || isRefused || isRefreshing) return lost(stream, held)
    const historyAt = platform.stateOf(stream.stream)?.backfilled_at ?? null
    const isHistoryFresh = !isListing && historyAt !== null && historyAt !== listedAt
    return [
      ...lost(stream, held),
      ...warehouseDifferences({ ...comparison, streams: [stream], isHistoryFresh }).map(
        (text) => `after a complete sync, ${text}`,
      ),
    ]
  }

  function isTouched(stream: Stream, events: readonly Event[]): boolean {
    const isReferences = stream.nested === 'referenced_collections'
    return events.some(
      (event) =>
        (event.do === 'change' && streams[event.change.stream % streams.length] === stream) ||
        (event.do === 'reference' && isReferences),
    )
  }

  /** Rows that the warehouses had as they are, and have no more. */
  function lost(stream: Stream, held: ReadonlyMap<string, Row>): string[] {
    const service = truthOf(stream, comparison)
    const now = right(stream, service)
    const living = new Map(service.map((row) => [keyOf(row), row]))
    return [...held]
      .filter(([key, row]) => {
        const alive = living.get(key)
        return alive && isSame(alive, row) && !now.has(key)
      })
      .filter(([, row]) => isCompared(row, stream, { ...comparison, isHistoryFresh: true }))
      .map(([key]) => `${stream.stream} ${key} lives, was in the warehouse, and is not there now`)
  }

  /** The rows that both warehouses hold in the version of the service. */
  function right({ stream }: Stream, service: readonly Row[]): Map<string, Row> {
    const tables = platform.warehouses.map((warehouse) => warehouse.rows(stream))
    return new Map(
      service
        .map((row) => [keyOf(row), row] as const)
        .filter(([key, row]) => tables.every((rows) => isSame(row, rows.get(key)))),
    )
  }
}

function isRefreshing(state: StreamState | undefined): boolean {
  return state?.mode === 'full_refresh' && state.phase === 'list'
}

function isSame(row: Row, other: Row | undefined): boolean {
  return other !== undefined && other['changeVersion'] === row['changeVersion']
}

/** A few syncs without a disturbance must be enough: the first may resume what was cut off. */
const QUIET_SYNCS = 4
/** The service forgets a delta after 72 hours, also one that nobody can use any more. */
const FORGET_HOURS = 73

/**
 * Runs a history and throws unless both warehouses equal the service: after each sync in the streams
 * that it completes, and after undisturbed syncs in all of them, first without the days before a
 * delta's window, which wait for their next listing, then with them.
 */
export async function runHistory(history: History, place: Place): Promise<void> {
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
      lastDay: '9999-12-31',
    }
    for (const change of history.seeded) tenant.happen({ do: 'change', change })
    for (const step of history.steps) await take(step, running)
    await settle(running)
    refuse(warehouseDifferences({ ...comparisonOf(running), isHistoryFresh: false }))
    running.settings['history_refresh_days'] = 1
    // Also when the clock has been set back a few times.
    emulator.advance({ hours: 60 })
    const outcomes = await settle(running)
    refuse(warehouseDifferences({ ...comparisonOf(running), isHistoryFresh: true }))
    refuseRestarts(outcomes)
  } finally {
    await emulator.close()
  }
}

interface Running {
  readonly history: History
  readonly place: Place
  readonly emulator: Emulator
  readonly streams: readonly Stream[]
  readonly tenant: Tenant
  readonly platform: Platform
  readonly settings: Record<string, unknown>
  /** The earliest of the days to which syncs looked ahead. */
  lastDay: Day
}

async function take(step: Step, running: Running): Promise<void> {
  const { platform, tenant } = running
  if (step.do === 'sync') await disturbed(step, running)
  else if (step.do === 'rewind') platform.rewind(step.syncs, step.isKept)
  else if (step.do === 'configure') running.settings[step.setting.set] = step.setting.to
  else if (step.do === 'switch-mode') {
    platform.switchMode(streamAt(step.stream, running), step.isCleared)
  } else tenant.happen(step)
}

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
  })
  for (const fault of sync.faults) disturb(fault, emulator, streams)
  platform.begin(running.history.streams)
  emulator.advance(BETWEEN_SYNCS)
  const files = filesOf(running)
  const rule = createSyncRule({ ...comparisonOf(running), isHistoryFresh: false }, sync)
  const outcome = await run({ ...inPlace[place], ...files, killAfter: sync.killAfter })
  stop()
  emulator.clearFaults()
  platform.load(outcome, sync.kept)
  const { messages } = outcome
  const broken = messages.find(({ trace }) => trace?.error?.message.includes('Unexpected error'))
  if (broken !== undefined) throw new Error(JSON.stringify(broken.trace?.error))
  refuse(rule.faults(completed(messages), happened))
}

function disturb(
  { kind, path, stream, skip, times }: Fault,
  emulator: Emulator,
  streams: readonly Stream[],
): void {
  const { collection } = streams[stream % streams.length] as Stream
  const paths = { token: '/connect/token', list: `/${collection}`, delta: `/delta/${collection}` }
  const at = typeof path === 'object' ? `/external-references/${path.references}` : paths[path]
  if (typeof kind === 'number') emulator.fail(at, kind, { skip, times })
  else emulator.fault(at, kind, { skip, times, ms: 20 })
}

function streamAt(stream: number, { history: { streams } }: Running): string {
  return streams[stream % streams.length] as string
}

/** Undisturbed syncs until one changes nothing; in this process, where they are faster. */
async function settle(running: Running): Promise<AirbyteRun[]> {
  const { emulator, platform } = running
  const outcomes: AirbyteRun[] = []
  for (let syncs = 0, blocked = 0; syncs < QUIET_SYNCS; ) {
    platform.begin(running.history.streams)
    emulator.advance(BETWEEN_SYNCS)
    const before = rowsOf(running)
    const outcome = await run({ ...inPlace['in-process'], ...filesOf(running) })
    platform.load(outcome, 'everything')
    outcomes.push(outcome)
    if (outcome.exitCode !== 0) {
      if (!isBlocked(outcome, running) || ++blocked > 2)
        throw new Error(`a quiet sync fails: ${said(outcome)}`)
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
 * A service may keep the first of two deltas, also one whose answer was lost, until it forgets it;
 * and a link that only a later, forgotten STATE has used looks like another consumer's doing.
 */
function isBlocked({ messages }: AirbyteRun, { emulator, history }: Running): boolean {
  const { secondStart, usedDeltaLink } = emulator.options
  const isRewound = history.steps.some((step) => step.do === 'rewind')
  if (secondStart !== 'conflict' && !(usedDeltaLink === 'conflict' && isRewound)) return false
  const errors = messages.flatMap(({ trace }) => trace?.error?.message ?? [])
  return errors.every((message) => message.includes('one active delta'))
}

function said({ messages }: AirbyteRun): string {
  return messages
    .flatMap(({ trace, log }) => trace?.error?.message ?? log?.message ?? [])
    .join('\n')
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
  const { emulator, platform, streams, settings, history, lastDay } = running
  const choices = settings['external_references'] as readonly ReferenceChoice[]
  const pairs = choices.flatMap(({ collection, names }) =>
    names.map((name) => ({ collection, name })),
  )
  return {
    emulator,
    platform,
    streams,
    references: areReferencesStable(history) ? pairs : undefined,
    rulesOf: rulesUnder((settings['personal_data'] ?? 'complete') as PrivacyMode),
    lastDay,
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
function refuseRestarts(outcomes: readonly AirbyteRun[]): void {
  for (const outcome of outcomes) {
    if (outcome.exitCode !== 0) return
    const text = said(outcome)
    if (text.includes('read from the beginning'))
      throw new Error(`a quiet sync starts over: ${text}`)
  }
}

function filesOf(running: Running) {
  const { emulator, settings, platform, history } = running
  const ahead = addDays(dayOf(emulator.now()), settings['future_days'] as number)
  if (ahead < running.lastDay) running.lastDay = ahead
  const config = {
    ...emulator.config(),
    activity_structures: emulator.activityStructures,
    concurrency: 1,
    request_timeout_seconds: 5,
    ...settings,
  }
  const catalog = history.streams.map((name) => ({ name, sync_mode: platform.modeOf(name) }))
  return { config, catalog, state: platform.state }
}
