import { expect } from 'vitest'
import { type Emulator, type EmulatorOptions, startEmulator } from '../../emulator/emulator.ts'
import type { PrivacyMode } from '../../src/privacy/privacy-settings.ts'
import type { Message } from '../../src/protocol/acceptance/messages.ts'
import type { Stream } from '../../src/streams/collections.ts'
import { streams as catalogue } from '../../src/streams/streams.ts'
import { run } from '../testing/run.ts'
import { warehouseDifferences } from './comparison.ts'
import { BETWEEN_SYNCS, type Kept, rulesUnder } from './history.ts'
import { completed, inPlace } from './run-sync.ts'
import { createPlatform, type Platform } from './warehouses.ts'

/** One sync of a scenario, in a form that tests can ask. */
interface ScenarioSync {
  readonly exitCode: number | null
  readonly messages: readonly Message[]
  /** WARN messages. */
  readonly warnings: readonly string[]
  readonly errors: readonly string[]
  /** Rows that were sent as gone, by id. */
  readonly deleted: readonly unknown[]
  readonly records: readonly Readonly<Record<string, unknown>>[]
  /** Paths and queries of the requests, those for tokens left out. */
  readonly requests: readonly string[]
}

interface SyncOptions {
  /** Dies after so many lines. */
  readonly killAfter?: number
  readonly kept?: Kept
  readonly mode?: 'incremental' | 'full_refresh'
  /** The generation that the destination is to have alone; none if left out. */
  readonly generation?: number
  /** Called before the n-th request of the sync is answered, the one for the token counted. */
  readonly onRequest?: (n: number) => void
}

/** A service, a connector in this process and two warehouses: what a history plays with, by hand. */
export interface Scenario {
  readonly emulator: Emulator
  /** Settings of the configuration; a change holds from the next sync on. */
  readonly settings: Record<string, unknown>
  platform: Platform
  sync(options?: SyncOptions): Promise<ScenarioSync>
  /** Where the warehouses differ from the service, in words. */
  differences(): string[]
}

/** The requests for lists of a collection, not for the first phase of its delta. */
export function listsOf(collection: string): RegExp {
  return new RegExp(`^/${collection}([?](?!(.*&)?delta)|$)`)
}

/** A stream with so many rows of its own, five on a page. */
export async function startWithRows(
  stream: string,
  rows: number,
  options?: EmulatorOptions,
): Promise<Scenario> {
  const scenario = await startScenario([stream], { people: 0, pageSize: 5, ...options })
  for (let row = 0; row < rows; row++) scenario.emulator.insert(stream.replaceAll('_', '-'))
  return scenario
}

export async function startScenario(
  streams: readonly string[],
  options: EmulatorOptions = {},
): Promise<Scenario> {
  const emulator = await startEmulator({ people: 4, months: 0, pageSize: 2, ...options })
  const scenario: Scenario = {
    emulator,
    settings: {},
    platform: createPlatform(),
    sync,
    differences: () =>
      warehouseDifferences({
        emulator,
        platform: scenario.platform,
        streams: streams.map((name) => catalogue.get(name) as Stream),
        references: undefined,
        rulesOf: rulesUnder((scenario.settings['personal_data'] ?? 'complete') as PrivacyMode),
        lastDay: '9999-12-31',
        isHistoryFresh: true,
        columns: new Map(),
        levels: [1, 2],
        silent: new Set(),
      }),
  }
  return scenario

  async function sync({
    killAfter = 0,
    kept = 'everything',
    mode = 'incremental',
    generation,
    onRequest = () => {},
  }: SyncOptions = {}): Promise<ScenarioSync> {
    const { platform, settings } = scenario
    emulator.advance(BETWEEN_SYNCS)
    const before = emulator.requests.length
    const stop = emulator.onRequest(() => onRequest(emulator.requests.length - before))
    const config = {
      ...emulator.config(),
      start_date: undefined,
      activity_structures: emulator.activityStructures,
      concurrency: 1,
      ...settings,
    }
    const catalog = streams.map((name) => ({ name, sync_mode: mode, generation }))
    const files = { config, catalog, state: platform.state }
    const outcome = await run({ ...inPlace['in-process'], ...files, killAfter })
    stop()
    platform.load({ ...outcome, completed: completed(outcome.messages) }, kept)
    const requests = emulator.requests.slice(before).filter(({ method }) => method === 'GET')
    return {
      ...told(outcome.messages),
      exitCode: outcome.exitCode,
      requests: requests.map(({ path, query }) => decodeURIComponent(`${path}?${query}`)),
    }
  }
}

function told(messages: readonly Message[]): Omit<ScenarioSync, 'exitCode' | 'requests'> {
  const records = messages.flatMap(({ record }) => (record === undefined ? [] : [record.data]))
  return {
    messages,
    records,
    deleted: records.filter((row) => row['_ab_cdc_deleted_at'] !== null).map(({ id }) => id),
    warnings: messages.flatMap(({ log }) => (log?.level === 'WARN' ? [log.message] : [])),
    errors: messages.flatMap(({ trace }) => trace?.error?.message ?? []),
  }
}

/** A tenant of jobs, read once; the next sync is to audit it. */
export async function startDueJobs(rows = 12): Promise<Scenario> {
  const scenario = await startWithRows('jobs', rows)
  await scenario.sync()
  makeDue(scenario)
  return scenario
}

/** Makes the next sync one that audits. */
export function makeDue({ settings, emulator }: Scenario): void {
  settings['audit_days'] = 1
  emulator.advance({ hours: 25 })
}

/** What the delta is silent about, now and later. The next sync is to audit it. */
export async function changeInSilence(scenario: Scenario, change: () => void): Promise<void> {
  const { emulator, settings, sync, differences } = scenario
  change()
  emulator.fault('/delta', 'empty', { times: 1 })
  delete settings['audit_days']
  await sync()
  expect(differences()).not.toEqual([])
  makeDue(scenario)
}

/** A bookmark as it is stored. */
export type Blob = Record<string, unknown>

/** A platform whose state of a stream is another one; its rows are the same. */
export function withState(
  platform: Platform,
  stream: string,
  change: (blob: Blob) => unknown,
): Platform {
  const state = platform.state.map((entry) => {
    const copy = structuredClone(entry) as {
      stream: { stream_descriptor: { name: string }; stream_state: unknown }
    }
    if (copy.stream.stream_descriptor.name === stream)
      copy.stream.stream_state = change(copy.stream.stream_state as Blob)
    return copy
  })
  return Object.defineProperties({} as Platform, {
    ...Object.getOwnPropertyDescriptors(platform),
    state: { value: state },
  })
}
