import { mkdir, rm, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { configuredCatalog } from '../deploy/sync/source.ts'
import { workAndWait, workOneDay } from './demo/changes.ts'
import type { CatalogStream } from './demo/columns.ts'
import { compare, type Difference } from './demo/compare.ts'
import { ask, read } from './demo/connector.ts'
import { type Destination, type Outcome, openDestination } from './demo/destination.ts'
import { removeLeftovers } from './demo/leftovers.ts'
import { outputFolder, warehouseFile } from './demo/paths.ts'
import { createProgress } from './demo/progress.ts'
import { type Service, startService } from './demo/service.ts'
import { grouped, table } from './demo/table.ts'

/**
 * The whole story of a tenant: an emulated service, the real connector, and a warehouse that is
 * compared with the service after each of three syncs. Exit code 1 when anything differs.
 */

const SIZE = { people: 300, months: 12, pageSize: 1000 }
/** Of a warehouse that differs, so many rows are shown. */
const MAX_SHOWN = 20

/** What happened to a stream over all syncs. */
interface Tally {
  read: number
  changed: number
  deleted: number
  rows: number
  inService: number
}

/** What the parts of the story share. */
interface Scene {
  readonly service: Service
  readonly destination: Destination
  readonly streams: readonly CatalogStream[]
  readonly tallies: ReadonlyMap<string, Tally>
  readonly signal: AbortSignal
}

const file = (name: string) => join(outputFolder, name)
const say = (line: string) => void process.stdout.write(`${line}\n`)

async function story(signal: AbortSignal): Promise<readonly Difference[]> {
  await removeLeftovers(outputFolder, (names) =>
    say(
      `Removing from ${basename(outputFolder)}/ what an earlier demo has left: ${names.join(', ')}.`,
    ),
  )
  const destination = await openDestination(warehouseFile)
  signal.addEventListener('abort', destination.interrupt, { once: true })
  try {
    const service = await startService(SIZE, signal)
    try {
      return await syncThreeTimes(service, destination, signal)
    } finally {
      await service.stop()
    }
  } finally {
    signal.removeEventListener('abort', destination.interrupt)
    destination.close()
  }
}

async function syncThreeTimes(
  service: Service,
  destination: Destination,
  signal: AbortSignal,
): Promise<readonly Difference[]> {
  const startedAt = Date.now()
  say(`The service has ${SIZE.people} people and ${SIZE.months} months of their days.`)
  await configure(service)
  const streams = await introduce(signal)
  const tallies = new Map(streams.map(({ name }) => [name, emptyTally()]))
  const scene = { service, destination, streams, tallies, signal }
  const differences = [
    ...(await sync('First sync: everything', scene)),
    ...(await sync('Second sync: after a day of work', scene, workOneDay)),
    ...(await sync('Third sync: 73 hours later, every delta link is dead', scene, workAndWait)),
  ]
  conclude(scene, differences, startedAt)
  return differences
}

/** Writes the configuration; activity definitions are offered for structures that it names. */
async function configure(service: Service): Promise<void> {
  const definitions = await service.all('activity-definitions')
  const structures = new Map(
    definitions.map(({ structureVersion, level }) => [
      `${structureVersion} ${level}`,
      { structure_version_id: structureVersion, level },
    ]),
  )
  await save('config.json', {
    ...(await service.config()),
    company: 'Demo',
    activity_structures: [...structures.values()],
  })
}

/** Runs spec, check and discover, and writes a catalog of all streams. */
async function introduce(signal: AbortSignal): Promise<readonly CatalogStream[]> {
  const withConfig = ['--config', file('config.json')]
  const [spec] = await ask(['spec'], signal)
  const properties = nested(spec, 'spec', 'connectionSpecification', 'properties') as object
  say(`spec      ${Object.keys(properties).length} settings`)
  const check = await ask(['check', ...withConfig], signal)
  const status = nested(
    check.find(({ type }) => type === 'CONNECTION_STATUS'),
    'connectionStatus',
  )
  const { status: verdict, message } = status as { status: string; message?: string }
  say(`check     ${verdict}${message === undefined ? '' : `: ${message}`}`)
  if (verdict !== 'SUCCEEDED') throw new Error('The check of the configuration failed')
  const discovered = await ask(['discover', ...withConfig], signal)
  const catalog = discovered.find(({ type }) => type === 'CATALOG')
  const streams = nested(catalog, 'catalog', 'streams') as CatalogStream[]
  say(`discover  ${streams.length} streams`)
  await save('catalog.json', configuredCatalog(streams))
  return streams
}

/** One sync with what happens before it: read, load, and compare the warehouse with the service. */
async function sync(
  title: string,
  scene: Scene,
  before?: (service: Service) => Promise<void>,
): Promise<Difference[]> {
  say(`\n${title}`)
  await before?.(scene.service)
  const { tallies, signal } = scene
  const folder = file('records')
  await mkdir(folder)
  const startedAt = Date.now()
  const progress = createProgress(process.stdout)
  const state = before === undefined ? [] : ['--state', file('state.json')]
  const { files, states } = await read({
    args: ['--config', file('config.json'), '--catalog', file('catalog.json'), ...state],
    folder,
    signal,
    onRecords(stream, count) {
      progress.add(stream, count)
      tallyOf(tallies, stream).read += count
    },
  })
  const total = progress.end()
  say(`  read ${grouped(total)} records in ${seconds(startedAt)}`)
  await save('state.json', states)

  const loadedAt = Date.now()
  for (const stream of scene.streams) {
    const outcome = await scene.destination.load(stream, files.file(stream.name))
    add(tallyOf(tallies, stream.name), outcome)
  }
  await rm(folder, { recursive: true })
  say(`  loaded into DuckDB in ${seconds(loadedAt)}`)
  return verify(scene)
}

async function verify({
  service,
  destination,
  streams,
  tallies,
  signal,
}: Scene): Promise<Difference[]> {
  const startedAt = Date.now()
  const progress = createProgress(process.stdout)
  const differences: Difference[] = []
  for (const stream of streams) {
    signal.throwIfAborted()
    const records = await service.all(stream.name.replaceAll('_', '-'))
    const tally = tallyOf(tallies, stream.name)
    tally.inService = records.length
    const key = stream.source_defined_primary_key.map(([column = '']) => column)
    const sides = {
      stream: stream.name,
      key,
      service: records,
      warehouse: destination.rows(stream),
    }
    differences.push(...(await compare(sides)))
    progress.add(stream.name, records.length)
  }
  const rows = progress.end()
  const verdict = differences.length === 0 ? 'all equal' : `${grouped(differences.length)} differ`
  say(
    `  compared with ${grouped(rows)} records of the service in ${seconds(startedAt)}: ${verdict}`,
  )
  return differences
}

function conclude({ tallies }: Scene, differences: readonly Difference[], startedAt: number): void {
  const head = [
    'stream',
    'records read',
    'changes',
    'deletes',
    'rows in DuckDB',
    'rows in the service',
  ]
  const rows = [...tallies].map(([stream, tally]) => [stream, ...numbers(tally)])
  const text = (cell: string | number) => (typeof cell === 'number' ? grouped(cell) : cell)
  const total = numbers(emptyTally()).map((_, i) =>
    rows.reduce((sum, row) => sum + Number(row[i + 1]), 0),
  )
  say(
    `\n${table(
      head,
      [...rows, ['total', ...total]].map((row) => row.map(text)),
    )}\n`,
  )
  for (const { stream, id, what } of differences.slice(0, MAX_SHOWN))
    say(`${stream} ${id}: ${what}`)
  if (differences.length > MAX_SHOWN) say(`... and ${grouped(differences.length - MAX_SHOWN)} more`)
  say(
    differences.length === 0
      ? `The warehouse equals the service, after each of three syncs (${seconds(startedAt)} in all).`
      : 'The warehouse differs from the service.',
  )
  say('Ask it: npm run ask -- "SELECT count(*) FROM clockings"')
}

function add(tally: Tally, { rows, changed, deleted }: Outcome): void {
  tally.rows = rows
  tally.changed += changed
  tally.deleted += deleted
}

function tallyOf(tallies: ReadonlyMap<string, Tally>, stream: string): Tally {
  const tally = tallies.get(stream)
  if (tally === undefined)
    throw new Error(`There are records of a stream that was not discovered: ${stream}`)
  return tally
}

function emptyTally(): Tally {
  return { read: 0, changed: 0, deleted: 0, rows: 0, inService: 0 }
}

function numbers({ read, changed, deleted, rows, inService }: Tally): number[] {
  return [read, changed, deleted, rows, inService]
}

async function save(name: string, content: unknown): Promise<void> {
  await writeFile(file(name), `${JSON.stringify(content, null, 2)}\n`)
}

function nested(value: unknown, ...path: readonly string[]): unknown {
  return path.reduce((inner, step) => (inner as Record<string, unknown> | undefined)?.[step], value)
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
