import { writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { parseArgs } from 'node:util'
import { DuckDBInstance } from '@duckdb/node-api'
import { type Service, type ServiceRecord, startProgram, startService } from './demo/service.ts'
import { grouped, outputFolder, removeLeftovers, table, warehouseFile } from './demo/warehouse.ts'

/**
 * `npm run demo`: runs `protime sync` three times on an emulated tenant, and `protime verify` after each sync, which
 * compares the warehouse with the service. The exit code is 1 if anything differs.
 */

/** Collections without a delta whose records nothing refers to. */
const HISTORIES = [
  'department-histories',
  'employer-histories',
  'job-histories',
  'job-category-histories',
  'sector-histories',
  'work-location-histories',
]
/** Collections without a delta that others refer to, so only new records of them can be deleted. */
const ENTITIES = ['job-categories', 'sectors', 'work-locations']

const REFERENCE = { collection: 'people', name: 'payroll' }

/** How many records of all collections change. */
const CHANGES = { inserts: 96, updates: 144, deletes: 200, softDeletes: 60 }

/**
 * Simulates a day until the evening: everybody clocks in and out, records of all collections are added, corrected and
 * deleted, some clockings are soft-deleted, and a reference is added.
 */
async function workOneDay(service: Service): Promise<void> {
  await service.tell('/advance', { hours: 18 })
  await clockInAndOut(service)
  await service.tell('/changes', { ...CHANGES, seed: 2 })
  for (const collection of ENTITIES) await service.tell('/insert', { collection })
  const references = await service.references()
  await references.put({ ...REFERENCE, value: 'late riser' }, 2)
}

/**
 * Simulates a long weekend of 73 hours without a sync, after which every delta link has expired: records of collections
 * without a delta and references are deleted, and there is another day of work.
 */
async function workAndWait(service: Service): Promise<void> {
  for (const collection of HISTORIES) await undoLastMove(collection, service)
  // The second sync has loaded the last record, and nothing refers to it yet.
  for (const collection of ENTITIES) {
    const last = (await service.all(collection)).at(-1)
    await service.tell('/remove', { collection, id: last?.['id'] })
  }
  const payroll = (await service.all('external-references')).filter(
    ({ collection, name }) => collection === REFERENCE.collection && name === REFERENCE.name,
  )
  const references = await service.references()
  for (const { value } of payroll.slice(0, 5)) {
    await references.remove({ ...REFERENCE, value: String(value) })
  }
  await service.tell('/advance', { hours: 73 })
  await clockInAndOut(service)
  await service.tell('/changes', { ...CHANGES, seed: 3 })
}

/** Undoes the latest change in a history: removes the last period of somebody, and opens the one before again. */
async function undoLastMove(collection: string, service: Service): Promise<void> {
  const periods = await service.all(collection)
  const last = periods.findLast((period) => period['until'] === null && before(period, periods))
  if (!last) throw new Error(`Nobody in ${collection} was ever anything else`)
  const id = before(last, periods)?.['id']
  await service.tell('/remove', { collection, id: last['id'] })
  await service.tell('/update', { collection, id, patch: { until: null } })
}

function before(
  { person, from }: ServiceRecord,
  periods: readonly ServiceRecord[],
): ServiceRecord | undefined {
  const dayBefore = new Date(Date.parse(String(from)) - 24 * 3600 * 1000).toISOString().slice(0, 10)
  return periods.find((one) => idOf(one) === idOf({ person }) && one['until'] === dayBefore)
}

function idOf({ person }: ServiceRecord): unknown {
  return (person as ServiceRecord)['id']
}

/** Adds a day of work from about 8:00 to about 16:30 for everybody who is in service. */
async function clockInAndOut(service: Service): Promise<void> {
  const date = (await service.now()).slice(0, 10)
  for (const { id, inServiceDate } of await service.all('people')) {
    if (String(inServiceDate) > date) continue
    const person = { id }
    for (const time of [480 + (Number(id) % 17), 990 + (Number(id) % 13)]) {
      const times = { timeOfDayInMinutes: time, calculatedTimeOfDayInMinutes: time - (time % 5) }
      const record = { person, date, ...times }
      await service.tell('/insert', { collection: 'clockings', record })
    }
    await service.tell('/insert', { collection: 'calculated-totals', record: { person, date } })
  }
}

/** A warehouse after a sync. */
interface Verified {
  /** How many rows each stream has. */
  readonly rows: ReadonlyMap<string, number>
  /** The lines that `protime verify` prints before its summary. */
  readonly differences: readonly string[]
}

const { values: given } = parseArgs({
  options: {
    people: { type: 'string', default: '300' },
    months: { type: 'string', default: '12' },
  },
})
const SIZE = { people: Number(given.people), months: Number(given.months), pageSize: 1000 }
/** The exit code of `protime verify` if something differs. */
const DIFFERS = 3
/** How many differing rows are shown. */
const MAX_SHOWN = 20

const configFile = join(outputFolder, 'config.json')
const say = (line: string) => void process.stdout.write(`${line}\n`)

async function story(signal: AbortSignal): Promise<readonly string[]> {
  await removeLeftovers(outputFolder, (names) =>
    say(
      `Removing from ${basename(outputFolder)}/ the remains of an earlier demo: ${names.join(', ')}.`,
    ),
  )
  const service = await startService(SIZE, signal)
  try {
    const startedAt = Date.now()
    say(`The service has ${SIZE.people} people and ${SIZE.months} months of their days.`)
    await configure(service)
    const first = await sync('First sync: everything', service, signal)
    const second = await sync('Second sync: after a day of work', service, signal, workOneDay)
    const third = await sync(
      'Third sync: 73 hours later, every delta link is dead',
      service,
      signal,
      workAndWait,
    )
    const differences = [first, second, third].flat().flatMap((verified) => verified.differences)
    conclude([first, second, third], differences, startedAt)
    return differences
  } finally {
    await service.stop()
  }
}

/** Writes the configuration. It names the activity structures, without which there are no activity definitions. */
async function configure(service: Service): Promise<void> {
  const definitions = await service.all('activity-definitions')
  const structures = new Map(
    definitions.map(({ structureVersion, level }) => [
      `${structureVersion} ${level}`,
      { structure_version_id: structureVersion, level },
    ]),
  )
  const config = {
    ...(await service.config()),
    company: 'Demo',
    activity_structures: [...structures.values()],
  }
  await writeFile(configFile, `${JSON.stringify(config, null, 2)}\n`)
}

/** Lets `before` happen, runs a sync, and compares the warehouse with the service. */
async function sync(
  title: string,
  service: Service,
  signal: AbortSignal,
  before?: (service: Service) => Promise<void>,
): Promise<Verified> {
  say(`\n${title}`)
  await before?.(service)
  const { code, output, complaints } = await protime('sync', signal)
  if (code !== 0) throw new Error(`protime sync ended with ${code}:\n${complaints}`)
  const { records, seconds } = JSON.parse(output) as { records: number; seconds: number }
  say(`  protime sync: ${grouped(records)} records in ${seconds.toFixed(1)} s`)
  return verify(signal)
}

async function verify(signal: AbortSignal): Promise<Verified> {
  const startedAt = Date.now()
  const { code, output, complaints } = await protime('verify', signal)
  const lines = output.trimEnd().split('\n')
  const summary = JSON.parse(lines.at(-1) ?? '') as { records: number; differences: number }
  if (code !== 0 && code !== DIFFERS)
    throw new Error(`protime verify ended with ${code}:\n${complaints}`)
  say(
    `  verified: ${grouped(summary.records)} records, ${grouped(summary.differences)} differences, in ${seconds(startedAt)}`,
  )
  return { rows: await rowsOfStreams(), differences: lines.slice(0, -1) }
}

/** Runs a command of `protime` on the warehouse. */
async function protime(command: string, signal: AbortSignal) {
  const words = ['--config', configFile, '--warehouse', warehouseFile]
  const program = startProgram('protime', [command, ...words], signal)
  const output = await text(program.stdout)
  const code = await program.ended
  signal.throwIfAborted()
  return { code, output, complaints: program.stderr() }
}

async function rowsOfStreams(): Promise<Map<string, number>> {
  const instance = await DuckDBInstance.create(warehouseFile, { access_mode: 'READ_ONLY' })
  const connection = await instance.connect()
  try {
    const reader = await connection.runAndReadAll(
      "SELECT stream, rows FROM _protime.streams WHERE stream <> 'inventory' ORDER BY stream",
    )
    return new Map(reader.getRows().map(([stream, rows]) => [String(stream), Number(rows)]))
  } finally {
    connection.closeSync()
    instance.closeSync()
  }
}

function conclude(
  syncs: readonly Verified[],
  differences: readonly string[],
  startedAt: number,
): void {
  const head = ['stream', 'after the first sync', 'the second', 'the third']
  const streams = [...(syncs[0]?.rows.keys() ?? [])]
  const numbers = streams.map((stream) => syncs.map(({ rows }) => rows.get(stream) ?? 0))
  const totals = syncs.map((_, i) => numbers.reduce((sum, row) => sum + (row[i] ?? 0), 0))
  const rows = [...streams, 'total'].map((stream, i) => [
    stream,
    ...(numbers[i] ?? totals).map(grouped),
  ])
  say(`\nRows of the warehouse, which are those of the service\n\n${table(head, rows)}\n`)
  for (const line of differences.slice(0, MAX_SHOWN)) say(line)
  if (differences.length > MAX_SHOWN) say(`... and ${grouped(differences.length - MAX_SHOWN)} more`)
  say(
    differences.length === 0
      ? `The warehouse equals the service, after each of three syncs (${seconds(startedAt)} in all).`
      : 'The warehouse differs from the service.',
  )
  say('Ask it: npm run ask -- "SELECT count(*) FROM clockings"')
}

function seconds(since: number): string {
  return `${((Date.now() - since) / 1000).toFixed(1)} s`
}

const stop = new AbortController()
for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stop.abort(name))
try {
  const differences = await story(stop.signal)
  process.exitCode = differences.length === 0 ? 0 : 1
} catch (error) {
  process.exitCode = stop.signal.aborted ? 130 : 1
  const words = error instanceof Error ? error.message : String(error)
  process.stderr.write(stop.signal.aborted ? '\nStopped.\n' : `\nThe demo failed. ${words}\n`)
}
