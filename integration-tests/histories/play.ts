import { isDeepStrictEqual } from 'node:util'
import { type Emulator, startEmulator } from '../../emulator/emulator.ts'
import type { Stream } from '../../src/catalogue/collection.ts'
import { streams as catalogue } from '../../src/catalogue/streams.ts'
import { type History, type Place, references } from './history.ts'
import type { Event, Fault, Setting, Step, Sync } from './step.ts'
import { type Outcome, syncOnce } from './sync-once.ts'
import { createTenant, type Tenant } from './tenant.ts'
import { verdict } from './verdict.ts'
import { createPlatform, type Platform } from './warehouses.ts'

/** A few syncs without a disturbance must be enough: the first may resume what was cut off. */
const QUIET_SYNCS = 4
/** The service forgets a delta after 72 hours, also one that nobody can use any more. */
const FORGET_HOURS = 73

/**
 * Plays a history and throws unless, after undisturbed syncs, both warehouses equal the service:
 * first without the days before a delta's window, which wait for their next listing, then with them.
 */
export async function play(history: History, place: Place): Promise<void> {
  const emulator = await startEmulator(history.options)
  try {
    const streams = history.streams.map((name) => catalogue.get(name) as Stream)
    const tenant = createTenant(emulator, streams)
    const game: Game = {
      history,
      place,
      emulator,
      streams,
      tenant,
      platform: createPlatform(),
      settings: { ...history.settings },
    }
    for (const change of history.seeded) tenant.happen({ do: 'change', change })
    for (const step of history.steps) await take(step, game)
    await settle(game)
    judge(game, false)
    game.settings['history_refresh_days'] = 1
    emulator.advance({ hours: 25 })
    const outcomes = await settle(game)
    judge(game, true)
    refuseRestarts(outcomes)
  } finally {
    await emulator.close()
  }
}

interface Game {
  readonly history: History
  readonly place: Place
  readonly emulator: Emulator
  readonly streams: readonly Stream[]
  readonly tenant: Tenant
  readonly platform: Platform
  readonly settings: Record<string, unknown>
}

async function take(step: Step, game: Game): Promise<void> {
  const { platform, tenant } = game
  if (step.do === 'sync') await disturbed(step, game)
  else if (step.do === 'rewind') platform.rewind(step.syncs, step.isKept)
  else if (step.do === 'configure') configure(step.setting, game)
  else tenant.happen(step)
}

async function disturbed({ during, faults, killAfter, kept }: Sync, game: Game): Promise<void> {
  const { emulator, platform, tenant, streams, place } = game
  let requests = 0
  const stop = emulator.onRequest(() => {
    requests++
    for (const { atRequest, event } of during) if (atRequest === requests) tenant.happen(event)
  })
  for (const fault of faults) disturb(fault, emulator, streams)
  const { messages } = await syncOnce(filesOf(game), killAfter, place)
  stop()
  emulator.clearFaults()
  platform.load(messages, kept)
  const broken = messages.find(({ trace }) => trace?.error?.message.includes('Unexpected error'))
  if (broken !== undefined) throw new Error(JSON.stringify(broken.trace?.error))
}

function disturb(
  { kind, path, stream, skip, times }: Fault,
  emulator: Emulator,
  streams: readonly Stream[],
): void {
  const { collection } = streams[stream % streams.length] as Stream
  const paths = { token: '/connect/token', list: `/${collection}`, delta: `/delta/${collection}` }
  if (typeof kind === 'number') emulator.fail(paths[path], kind, { skip, times })
  else emulator.fault(paths[path], kind, { skip, times, ms: 20 })
}

function configure(setting: Setting, { settings }: Game): void {
  if (setting.set === 'references') settings['external_references'] = references(setting.names)
  else if (setting.set === 'start') settings['start_date'] = setting.date
  else settings['history_refresh_days'] = setting.days
}

/** Undisturbed syncs until one changes nothing; in this process, where they are faster. */
async function settle(game: Game): Promise<Outcome[]> {
  const { emulator, platform } = game
  const outcomes: Outcome[] = []
  for (let syncs = 0, blocked = 0; syncs < QUIET_SYNCS; ) {
    const before = rowsOf(game)
    const outcome = await syncOnce(filesOf(game), 0, 'in-process')
    platform.load(outcome.messages, 'everything')
    outcomes.push(outcome)
    if (outcome.exitCode !== 0) {
      if (!isBlocked(outcome, game) || ++blocked > 2)
        throw new Error(`a quiet sync fails: ${said(outcome)}`)
      emulator.advance({ hours: FORGET_HOURS })
      continue
    }
    // The first sync may only complete a list that was cut off, with rows as they were then.
    if (syncs > 0 && isDeepStrictEqual(before, rowsOf(game))) return outcomes
    syncs++
  }
  throw new Error(`after ${QUIET_SYNCS} quiet syncs the warehouse still changes`)
}

/**
 * A service may keep the first of two deltas, also one whose answer was lost, until it forgets it;
 * and a link that only a later, forgotten STATE has used looks like another consumer's doing.
 */
function isBlocked({ messages }: Outcome, { emulator, history }: Game): boolean {
  const { secondStart, usedDeltaLink } = emulator.options
  const isRewound = history.steps.some((step) => step.do === 'rewind')
  if (secondStart !== 'conflict' && !(usedDeltaLink === 'conflict' && isRewound)) return false
  const errors = messages.flatMap(({ trace }) => trace?.error?.message ?? [])
  return errors.every((message) => message.includes('one active delta'))
}

function said({ messages }: Outcome): string {
  return messages
    .flatMap(({ trace, log }) => trace?.error?.message ?? log?.message ?? [])
    .join('\n')
}

function rowsOf({ platform, history }: Game) {
  return platform.warehouses.map((warehouse) =>
    history.streams.map((stream) => warehouse.rows(stream)),
  )
}

function judge(game: Game, isHistoryFresh: boolean): void {
  const { emulator, platform, streams, settings, history } = game
  const [asked] = settings['external_references'] as { names: string[] }[]
  const found = verdict({
    emulator,
    platform,
    streams,
    references: areReferencesStable(history) ? (asked?.names ?? []) : undefined,
    isHistoryFresh,
  })
  if (found.length > 0) throw new Error(found.join('\n'))
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
function refuseRestarts(outcomes: readonly Outcome[]): void {
  for (const outcome of outcomes) {
    if (outcome.exitCode !== 0) return
    const text = said(outcome)
    if (text.includes('read from the beginning'))
      throw new Error(`a quiet sync starts over: ${text}`)
  }
}

function filesOf({ emulator, settings, platform, history }: Game) {
  const config = {
    ...emulator.config(),
    activity_structures: emulator.activityStructures,
    concurrency: 1,
    request_timeout_seconds: 5,
    ...settings,
  }
  return { config, streams: history.streams, state: platform.state }
}
