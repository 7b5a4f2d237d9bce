import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { offers } from '../../emulator/collections/collections.ts'
import { type Emulator, startEmulator } from '../../emulator/emulator.ts'
import { addDays, dayOf } from '../../src/ground/days.ts'
import type { PrivacyMode } from '../../src/privacy/privacy-settings.ts'
import type { Stream } from '../../src/streams/collections.ts'
import { streams as catalogue, keyOf as keyColumns } from '../../src/streams/streams.ts'
import { compare } from '../testing/compare.ts'
import { inventoryDifferences } from '../testing/inventory.ts'
import { protime, startProtime, verifiedDifferences, withDuckDb } from '../testing/protime.ts'
import { keyOf } from '../testing/warehouse.ts'
import {
  type Comparison,
  isBeforeStart,
  isBeyondReading,
  isCompared,
  truthOf,
} from './comparison.ts'
import { disturb } from './disturb.ts'
import { type Held, heldBy, killedAfter } from './duckdb-file.ts'
import {
  BETWEEN_SYNCS,
  type History,
  PRIVACY_KEY,
  rulesUnder,
  type Step,
  type Sync,
} from './history.ts'
import { canBeLookedFor, mayLieBeyond } from './sync-rule.ts'
import { createTenant, type Tenant } from './tenant.ts'

/** Undisturbed syncs until the file must equal the service, the days before the window included. */
const QUIET_SYNCS = 3
/** No history has it, so that no file has a state of it. */
const ANOTHER_STREAM = 'counter_groups'
/** More commits than most syncs have: some kills come too late. */
const MOST_COMMITS = 10
/** A refusal ends within seconds; a machine may be busy. */
const ENDS_WITHIN_MS = 60_000

interface Running {
  readonly emulator: Emulator
  readonly streams: readonly Stream[]
  readonly tenant: Tenant
  readonly folder: string
  readonly settings: Record<string, unknown>
  /** Those of the next sync alone. */
  once: readonly string[]
  host: '127.0.0.1' | 'localhost'
  /** Where the file is of another environment. */
  elsewhere: Extract<Step, { do: 'environment' }> | undefined
  left: ReadonlySet<string>
  /** How the last sync ended. */
  lastExit: number
  /** Whether it read everything anew, with nothing to compare it with. */
  isAnew: boolean
  /** Copies of the file, one before each sync. */
  copies: number
}

/**
 * Runs a history by `protime sync` into a DuckDB file, and throws unless the file equals the service in the end, answers
 * what the guide asks after each sync, and keeps what lives whatever a sync meets.
 */
export async function runInDuckDb({ streams, options, settings, seeded, steps }: History) {
  const emulator = await startEmulator(options)
  const folder = mkdtempSync(join(tmpdir(), 'history-'))
  try {
    const all = streams.map((name) => catalogue.get(name) as Stream)
    const tenant = createTenant(emulator, all)
    const running: Running = {
      emulator,
      streams: all,
      tenant,
      folder,
      settings: {
        ...{ future_days: 730, privacy_key: PRIVACY_KEY, history: (options.seed ?? 0) % 3 === 0 },
        ...settings,
      },
      once: [],
      host: '127.0.0.1',
      elsewhere: undefined,
      left: new Set(),
      lastExit: 1,
      isAnew: false,
      copies: 0,
    }
    for (const change of seeded) tenant.happen({ do: 'change', change })
    await sync(running)
    for (const step of steps) await take(step, running)
    running.left = new Set()
    running.elsewhere = undefined
    tenant.happen({ do: 'date', to: undefined })
    running.settings['history_refresh_days'] = 1
    for (let i = 0; i < QUIET_SYNCS; i++) {
      emulator.advance({ hours: 60 })
      if ((await sync(running)) !== 0) emulator.advance({ hours: 73 })
    }
    const found = await held(running)
    refuse(await differences(found, running))
    refuse(await verified(found, running))
  } finally {
    await emulator.close()
    rmSync(folder, { recursive: true })
  }
}

async function take(step: Step, running: Running): Promise<void> {
  if (step.do === 'sync') await disturbed(step, running)
  else if (step.do === 'rewind') rewind(step.syncs, running)
  else if (step.do === 'configure') running.settings[step.setting.set] = step.setting.to
  else if (step.do === 'switch-mode')
    running.once = step.isCleared ? ['--rewrite', '--forget-history'] : ['--full-refresh']
  else if (step.do === 'address') running.host = step.host
  else if (step.do === 'environment')
    running.elsewhere = step.domain === undefined ? undefined : step
  else if (step.do === 'select') {
    const names = running.streams.map(({ stream }) => stream)
    running.left = new Set(step.without.map((at) => names[at % names.length] as string))
  } else if (step.do !== 'columns' && step.do !== 'version') running.tenant.happen(step)
}

async function disturbed({ during, faults, killAfter }: Sync, running: Running): Promise<void> {
  const { emulator, tenant, streams } = running
  const before = await held(running)
  let requests = 0
  const stop = emulator.onRequest(() => {
    requests++
    for (const { atRequest, event } of during) if (atRequest === requests) tenant.happen(event)
  })
  // A first load of a delta that leaves rows out cannot be told from a whole one.
  const isKnown =
    running.lastExit === 0 &&
    running.left.size === 0 &&
    !streams.some(({ stream }) => mayLieBeyond(stream))
  for (const fault of faults)
    if (isKnown || fault.path !== 'list') disturb(fault, emulator, streams)
  const exitCode = await sync(running, killAfter % MOST_COMMITS)
  stop()
  emulator.clearFaults()
  if (running.elsewhere !== undefined) return
  const after = await held(running)
  refuse(after.wrong)
  const isCompared = exitCode === 0 && during.length === 0 && !running.isAnew
  if (isCompared) refuse(lost(before, after, running))
}

/** Rows that the file had as they are in the service, and that it has no more. */
function lost(before: Held, after: Held, running: Running): string[] {
  const comparison = comparisonOf(after, running)
  const today = dayOf(running.emulator.now())
  const lastDay = addDays(today, running.settings['future_days'] as number)
  return running.streams.flatMap((stream) => {
    const versions = ({ rows }: Held) =>
      new Map(rows.get(stream.stream)?.map((row) => [keyOf(row), row['changeVersion']]))
    const [then, now] = [versions(before), versions(after)]
    return truthOf(stream, comparison)
      .filter((row) => isCompared(row, stream, comparison) && then.has(keyOf(row)))
      .filter((row) => canBeLookedFor(row, stream, { lastDay }))
      .filter((row) => then.get(keyOf(row)) === row['changeVersion'] && !now.has(keyOf(row)))
      .map((row) => `${stream.stream} ${keyOf(row)} lives, was in the file, and is not there now`)
  })
}

/** Syncs; the process is killed after so many commits unless they are 0. */
async function sync(running: Running, commits = 0): Promise<number> {
  running.isAnew = running.once.length > 0
  running.lastExit = await killedAfter(commits, fileOf(running), () => run(running))
  if (running.lastExit === 0) refuse(await withDuckDb(fileOf(running), inventoryDifferences))
  return running.lastExit
}

/** Runs `protime sync`; as a process where it must refuse the file, because that has to end by itself. */
async function run(running: Running): Promise<number> {
  const { folder, emulator, streams, left } = running
  emulator.advance(BETWEEN_SYNCS)
  const config = join(folder, 'config.json')
  writeFileSync(config, JSON.stringify(configOf(running)), { mode: 0o600 })
  const named = streams.map(({ stream }) => stream).filter((name) => !left.has(name))
  const words = [...['sync', '--quiet', '--config', config, '--warehouse', fileOf(running)]]
  const chosen = ['--streams', [...named, 'inventory'].join(',')]
  const { once } = running
  running.once = []
  if (running.elsewhere !== undefined) {
    const asked = running.elsewhere.isOther ? ['--streams', ANOTHER_STREAM] : chosen
    await refuseElsewhere([...words, ...asked], running)
    return 2
  }
  if (named.length === 0) {
    const { exitCode, stderr } = await protime(...words, ...chosen)
    if (exitCode !== 2) throw new Error(`a sync of no stream ends with ${exitCode}: ${stderr}`)
    return exitCode
  }
  copyFile(running)
  const asked = (...more: readonly string[]) => protime(...words, ...more)
  const { exitCode, stderr } = await asked(...chosen, ...once)
  if (stderr.includes('Unexpected error')) throw new Error(stderr)
  if (exitCode !== 2 || !stderr.includes('Add --rewrite')) return exitCode
  // Personal data of before must not stay: everything is read into another file.
  running.isAnew = true
  const all = [...streams.map(({ stream }) => stream), 'inventory']
  return (await asked('--rewrite', '--forget-history', '--streams', all.join(','))).exitCode
}

async function refuseElsewhere(words: readonly string[], running: Running): Promise<void> {
  const before = readFileSync(fileOf(running))
  const { child, ended, log } = startProtime(words)
  const deadline = setTimeout(() => child.kill('SIGKILL'), ENDS_WITHIN_MS)
  const { exitCode } = await ended
  clearTimeout(deadline)
  if (exitCode !== 2) throw new Error(`another environment ends with ${exitCode}: ${log()}`)
  if (!readFileSync(fileOf(running)).equals(before))
    throw new Error('a sync of another environment has changed the file')
}

function configOf({ emulator, settings, host, elsewhere }: Running): object {
  const { activity_structures: levels, ...others } = settings
  const config = emulator.config(host)
  return {
    ...config,
    environment: { ...(config['environment'] as object), environment_url: elsewhere?.domain },
    activity_structures: emulator.activityStructures.filter(
      ({ level }) => levels === undefined || (levels as readonly number[]).includes(level),
    ),
    // Records may be so large that they take their time, too.
    request_timeout_seconds: 30,
    max_record_mb: 64,
    ...others,
    // Those inside records may change without a change of the record.
    external_references: [],
  }
}

function fileOf({ folder }: Running): string {
  return join(folder, 'tenant.duckdb')
}

function copyFile(running: Running): void {
  if (!existsSync(fileOf(running))) return
  running.copies++
  copyFileSync(fileOf(running), `${fileOf(running)}.${running.copies}`)
}

/** A backup takes the place of the file. */
function rewind(syncs: number, running: Running): void {
  const copy = Math.max(1, running.copies - syncs + 1)
  if (existsSync(`${fileOf(running)}.${copy}`))
    copyFileSync(`${fileOf(running)}.${copy}`, fileOf(running))
}

function held(running: Running): Promise<Held> {
  return withDuckDb(fileOf(running), (connection) => heldBy(connection, running.streams))
}

async function differences(found: Held, running: Running): Promise<string[]> {
  const comparison = comparisonOf(found, running)
  const { personal_data: mode } = running.settings
  const all: string[] = [...found.wrong]
  for (const stream of running.streams) {
    const isMeant = (row: Row) => isCompared(row, stream, comparison)
    const service = truthOf(stream, comparison).map(wellFormed)
    const rows = (found.rows.get(stream.stream) ?? []).filter(isMeant)
    const exact = exactRows(stream, running)
    all.push(...digitFaults(stream, exact, found))
    const isHashed = (row: Row) => mode === 'pseudonymised' && exact.has(keyOf(row))
    const isOut = (row: Row) => !isMeant(row) || isHashed(row)
    const out = new Set(service.filter(isOut).map(keyOf))
    const one = await compare({
      stream: stream.stream,
      key: keyColumns(stream),
      service: service.filter((row) => !out.has(keyOf(row))),
      warehouse: rows.filter((row) => !out.has(keyOf(row))).map((row) => JSON.stringify(row)),
    })
    const isExcused = isBeyondReading(stream, comparison)
    all.push(
      ...one
        .filter(({ what }) => !(isExcused && what.includes('not in the service')))
        .map(({ id, what }) => `${stream.stream} ${id}: ${what}`),
    )
  }
  return all
}

/** What `protime verify` says of the file, which equals the service; of the streams that the service lists. */
async function verified(found: Held, running: Running): Promise<string[]> {
  const comparison = comparisonOf(found, running)
  const { dialect } = running.emulator.options
  const names = running.streams
    .filter(
      ({ collection, nested }) =>
        nested === 'referenced_collections' || offers(dialect, 'list', collection),
    )
    .map(({ stream }) => stream)
  if (names.length === 0) return []
  const words = ['--warehouse', fileOf(running), '--streams', names.join(',')]
  const all = await verifiedDifferences(configOf(running), ...words)
  // Rows before the start date are only among these if no delta reports that they have left.
  const places = running.streams.flatMap((stream) =>
    isBeyondReading(stream, comparison)
      ? [`{"stream":"${stream.stream}",`]
      : truthOf(stream, comparison)
          .filter((row) => isBeforeStart(row, stream, comparison))
          .map(({ id }) => `{"stream":"${stream.stream}","key":${id},`),
  )
  const isExcused = (text: string) =>
    text.includes('"too many"') && places.some((place) => text.startsWith(place))
  return all.filter((text) => !isExcused(text))
}

type Row = Readonly<Record<string, unknown>>

/** The rows of the service with numbers of which a double does not hold every digit, by their keys. */
function exactRows({ collection, nested }: Stream, { emulator }: Running): Map<string, string[]> {
  if (nested === 'referenced_collections') return new Map()
  const rows = emulator.exact(collection).map((row): [string, string[]] => {
    const digits = Object.values(row).flatMap((value) => {
      const { $digits: text } = Object(value) as { readonly $digits?: string }
      return text === undefined ? [] : [text]
    })
    return [keyOf(row), digits]
  })
  return new Map(rows.filter(([, digits]) => digits.length > 0))
}

/** Integers that the file has in another form, where it has the member at all. */
function digitFaults({ stream }: Stream, exact: Map<string, string[]>, { texts }: Held): string[] {
  return (texts.get(stream) ?? []).flatMap((text) => {
    const key = keyOf(JSON.parse(text) as Row)
    const digits = exact.get(key) ?? []
    return digits
      .filter((number) => /^\d{16,18}$/.test(number) && text.includes(`:${rounded(number)}`))
      .map((number) => `${stream} ${key}: ${number} is ${rounded(number)}`)
  })
}

function rounded(number: string): string {
  return String(BigInt(Number(number)))
}

/** DuckDB holds no half of a surrogate pair, and the comparison asks it for members by their names. */
function wellFormed(row: Row): Row {
  const whole = (text: string) => Buffer.from(text).toString()
  const values = JSON.parse(JSON.stringify(row), (_name, value) =>
    typeof value === 'string' ? whole(value) : value,
  ) as Row
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [whole(name), value]))
}

function comparisonOf({ states }: Held, running: Running): Comparison {
  const { emulator, streams, settings, tenant } = running
  return {
    emulator,
    streams,
    platform: {
      warehouses: [],
      stateOf: (stream) => states.get(stream),
      modeOf: () => 'incremental',
      isUnknown: () => false,
    },
    references: [],
    rulesOf: rulesUnder((settings['personal_data'] ?? 'complete') as PrivacyMode),
    isHistoryFresh: true,
    lastDay: '9999-12-31',
    columns: new Map(),
    levels: (settings['activity_structures'] ?? [1, 2]) as readonly number[],
    silent: tenant.silent,
  }
}

function refuse(faults: readonly string[]): void {
  if (faults.length > 0) throw new Error(faults.join('\n'))
}
