import { createWarehouse, keyOf, type Warehouse } from '../testing/warehouse.ts'
import { isAlways } from './choices.ts'
import type { Kept } from './history.ts'
import type { SyncMessage, SyncRun } from './run-sync.ts'

/** A bookmark as a STATE message carries it, as far as the tests look into it. */
export interface StreamState {
  readonly generation: number
  readonly start: string | null
  readonly window: string | null
  readonly phase: string
  /** Of the page that comes next; null for the first. */
  readonly link: string | null
  readonly mode: string
  readonly backfilled_at: string | null
  /** The last day of its lists so far. */
  readonly listed_until: string | null
  /** False where the ids had no room. */
  readonly tracked: boolean
}

type SyncMode = 'full_refresh' | 'incremental'

/** The platform's side of a history: what is loaded, and which STATE the next sync gets. */
export interface Platform {
  readonly warehouses: readonly Warehouse[]
  /** The state file for the next sync. */
  readonly state: readonly object[]
  stateOf(stream: string): StreamState | undefined
  modeOf(stream: string): SyncMode
  /** The generation of a stream that is refreshed; undefined for any other. */
  generationOf(stream: string): number | undefined
  /**
   * Before a sync, which is an attempt of the job of the last one where that failed and may be tried again. Else it is
   * a new job: a stream that is refreshed gets no state and another generation.
   */
  begin(streams: readonly string[]): void
  /**
   * Loads what a sync said; of what no STATE covers only what is kept. A refresh that is complete
   * replaces all rows that were there before it began. Answers with what is wrong with it, in words, for
   * a destination that compares no keys.
   */
  load(outcome: Said, kept: Kept): string[]
  /** Goes back to the state of an earlier sync, with the rows of that time or of today. */
  rewind(syncs: number, isKept: boolean): void
  /** From incremental to full refresh or back; rows and state go, or stay. */
  switchMode(stream: string, isCleared: boolean): void
  /**
   * Whether the row was the last thing a sync said before it was cut off, with no STATE of its stream
   * after it, nor one of any stream in a later whole write; or was loaded after the STATE that the
   * platform went back to, or in another sync mode. And it was never sent again while the stream was
   * read from the beginning, unless `isUntold`: no delta tells of its end, or none that counts. A
   * source cannot know of such a row.
   */
  isUnknown(stream: string, key: string, isUntold: boolean): boolean
}

/** What of a sync the platform looks at. */
type Said = Pick<SyncRun, 'exitCode' | 'messages' | 'whole' | 'completed'>

interface Snapshot {
  readonly warehouses: readonly Warehouse[]
  readonly states: ReadonlyMap<string, object>
  /** The streams whose rows were cleared since. */
  readonly cleared: Set<string>
  readonly loose: ReadonlyMap<string, Loose>
  readonly modes: ReadonlyMap<string, SyncMode>
  readonly refreshed: ReadonlyMap<string, ReadonlySet<string>>
  /** What was loaded by the sync after this snapshot. */
  readonly loaded: { stream: string; key: string }[]
}

/** A row that no STATE covers, and the generation that the connector went on from. */
interface Loose {
  readonly generation: number
  /** No delta watches the row that was read: it is one of a list, or of a delta that has not been started. */
  readonly isUnwatched: boolean
}

/** After so many attempts a job has failed. */
const ATTEMPTS_PER_JOB = 5

export function createPlatform(): Platform {
  let warehouses = [createWarehouse('highest-cursor'), createWarehouse('last-write')]
  let states = new Map<string, object>()
  let loose = new Map<string, Loose>()
  const modes = new Map<string, SyncMode>()
  const generations = new Map<string, number>()
  /** Those that the present job may still have. */
  let attemptsLeft = 0
  /** Of each refresh of the present job: the keys of its rows. */
  let refreshed = new Map<string, Set<string>>()
  /** Their records that a STATE covers, as a destination has them that compares no keys. */
  const appended = new Map<string, Row[]>()
  let snapshots: Snapshot[] = []
  return {
    get warehouses() {
      return warehouses
    },
    get state() {
      return [...states.values()]
    },
    stateOf,
    modeOf,
    generationOf: (stream) =>
      modeOf(stream) === 'incremental' ? undefined : generations.get(stream),
    begin,
    load,
    rewind,
    switchMode,
    isUnknown(stream, key, isUntold) {
      const row = loose.get(`${stream} ${key}`)
      if (row === undefined) return false
      const isUnwatched = isUntold || row.isUnwatched
      return isUnwatched || row.generation !== (stateOf(stream)?.generation ?? 0)
    },
  }

  function stateOf(stream: string): StreamState | undefined {
    const entry = states.get(stream) as { stream: { stream_state: StreamState } } | undefined
    return entry?.stream.stream_state
  }

  function modeOf(stream: string): SyncMode {
    return modes.get(stream) ?? 'incremental'
  }

  function begin(streams: readonly string[]): void {
    if (attemptsLeft === 0) {
      attemptsLeft = ATTEMPTS_PER_JOB
      refreshed.clear()
    }
    attemptsLeft--
    for (const stream of streams) {
      if (modeOf(stream) === 'incremental' || refreshed.has(stream)) continue
      generations.set(stream, (generations.get(stream) ?? 0) + 1)
      states.delete(stream)
      refreshed.set(stream, new Set())
      appended.set(stream, [])
    }
  }

  function load({ exitCode, messages, whole, completed }: Said, kept: Kept): string[] {
    const failures = messages.flatMap(({ trace }) => trace?.error?.failure_type ?? [])
    if (exitCode === 0 || failures.includes('config_error')) attemptsLeft = 0
    const loaded: Snapshot['loaded'] = []
    snapshots.push({
      warehouses: copies(),
      states: new Map(states),
      cleared: new Set(),
      loose: new Map(loose),
      modes: new Map(modes),
      refreshed: copyOf(refreshed),
      loaded,
    })
    const last = lastStates(messages)
    const lastWhole = messages.slice(0, whole).findLastIndex(({ state }) => state !== undefined)
    for (const { state } of messages) {
      if (state !== undefined)
        states.set(state.stream.stream_descriptor.name, { type: 'STREAM', stream: state.stream })
    }
    const taken = messages.filter(({ record }, i) => {
      if (record === undefined) return false
      const { stream } = record
      const isCovered = i < (last.get(stream) ?? -1)
      if (!isCovered && kept === 'committed') return false
      const row = { stream, key: keyOf(record.data) }
      loaded.push(row)
      refreshed.get(stream)?.add(row.key)
      if (isCovered) appended.get(stream)?.push(record.data)
      if (!isCovered && whole !== undefined && i > lastWhole) loosen(row)
      else loose.delete(`${stream} ${row.key}`)
      return true
    })
    for (const warehouse of warehouses) warehouse.load(taken)
    activate(messages, kept)
    return completed.flatMap(replace)
  }

  /** Only some of Singer's targets know of versions. */
  function activate(messages: readonly SyncMessage[], kept: Kept): void {
    const last = lastStates(messages)
    for (const [i, { activated }] of messages.entries()) {
      if (activated === undefined) continue
      const isCovered = i < (last.get(activated.stream) ?? -1)
      if (isCovered || kept === 'everything')
        warehouses[0]?.activate(activated.stream, activated.version)
    }
  }

  function replace(stream: string): string[] {
    const kept = refreshed.get(stream)
    if (kept === undefined) return []
    for (const warehouse of warehouses) warehouse.truncate(stream, kept)
    return overwrittenFaults(stream, appended.get(stream) ?? [])
  }

  function rewind(syncs: number, isKept: boolean): void {
    const at = snapshots.at(-syncs)
    if (at === undefined) return
    // Rows of today and a state from before they were cleared do not belong together.
    const today = [...states].filter(([stream]) => isKept && at.cleared.has(stream))
    const before = [...at.states].filter(([stream]) => !isKept || !at.cleared.has(stream))
    states = new Map([...before, ...today])
    if (isKept) {
      for (const row of snapshots.slice(-syncs).flatMap(({ loaded }) => loaded)) loosen(row)
    } else {
      warehouses = [...at.warehouses]
      loose = new Map(at.loose)
    }
    refreshed = copyOf(at.refreshed)
    appended.clear()
    for (const [stream, mode] of modes) {
      if (mode === (at.modes.get(stream) ?? 'incremental')) continue
      refreshed.delete(stream)
      loosenAll(stream)
    }
    snapshots = snapshots.slice(0, -syncs)
  }

  function switchMode(stream: string, isCleared: boolean): void {
    modes.set(stream, modeOf(stream) === 'incremental' ? 'full_refresh' : 'incremental')
    refreshed.delete(stream)
    if (isCleared) {
      states.delete(stream)
      for (const { cleared } of snapshots) cleared.add(stream)
      for (const warehouse of warehouses) warehouse.truncate(stream, new Set())
      return
    }
    loosenAll(stream)
  }

  /** A stream that continues in the other mode has no account of the rows that are there. */
  function loosenAll(stream: string): void {
    for (const warehouse of warehouses) {
      for (const key of warehouse.rows(stream).keys()) loosen({ stream, key })
    }
  }

  function loosen({ stream, key }: Snapshot['loaded'][number]): void {
    const { generation = 0, phase = 'list', link = null } = stateOf(stream) ?? {}
    const isUnwatched =
      !['backfill', 'changes'].includes(phase) && (phase !== 'initial' || link === null)
    loose.set(`${stream} ${key}`, { generation, isUnwatched })
  }

  function copies(): Warehouse[] {
    return warehouses.map((warehouse) => warehouse.copy())
  }
}

type Row = Readonly<Record<string, unknown>>

/** What a refresh must not have: a row twice in one version, or one that is gone. */
function overwrittenFaults(stream: string, records: readonly Row[]): string[] {
  const seen = new Set<string>()
  return records.flatMap((row) => {
    const version = `${keyOf(row)} in version ${row['changeVersion']}`
    const isTwice = seen.has(version)
    seen.add(version)
    if (isTwice) return [`${stream} ${version} is twice in a full refresh`]
    return row['_ab_cdc_deleted_at'] === null || isWhole(stream, row)
      ? []
      : [`${stream} ${version} is gone in a full refresh`]
  })
}

/**
 * Whether it is more than what is said of a row that is gone. A record that is marked by the service arrives whole, in a
 * refresh too, and the column of its mark may be left out.
 */
function isWhole(stream: string, row: Row): boolean {
  return Object.keys(row).some((name) => !name.startsWith('_') && !isAlways(stream, name))
}

function copyOf(refreshed: ReadonlyMap<string, ReadonlySet<string>>): Map<string, Set<string>> {
  return new Map([...refreshed].map(([stream, keys]) => [stream, new Set(keys)]))
}

/** Where the last STATE of each stream stands. */
function lastStates(messages: readonly SyncMessage[]): Map<string, number> {
  const last = new Map<string, number>()
  for (const [i, { state }] of messages.entries()) {
    if (state !== undefined) last.set(state.stream.stream_descriptor.name, i)
  }
  return last
}
