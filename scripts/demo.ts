import { writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { parseArgs } from 'node:util'
import { workAndWait, workOneDay } from './demo/changes.ts'
import { type Compared, compareWarehouse, type Difference } from './demo/compare.ts'
import { outputFolder, removeLeftovers, warehouseFile } from './demo/paths.ts'
import { type Service, startProgram, startService } from './demo/service.ts'
import { grouped, table } from './demo/table.ts'

/**
 * The whole story of a tenant: an emulated service, `protime sync`, and a warehouse that is compared with
 * the service after each of three syncs. Exit code 1 when anything differs.
 */

const { values: given } = parseArgs({
  options: {
    people: { type: 'string', default: '300' },
    months: { type: 'string', default: '12' },
  },
})
const SIZE = { people: Number(given.people), months: Number(given.months), pageSize: 1000 }
/** Of a warehouse that differs, so many rows are shown. */
const MAX_SHOWN = 20

const configFile = join(outputFolder, 'config.json')
const say = (line: string) => void process.stdout.write(`${line}\n`)

async function story(signal: AbortSignal): Promise<readonly Difference[]> {
  await removeLeftovers(outputFolder, (names) =>
    say(
      `Removing from ${basename(outputFolder)}/ what an earlier demo has left: ${names.join(', ')}.`,
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
    const differences = [first, second, third].flat().flatMap((compared) => compared.differences)
    conclude([first, second, third], differences, startedAt)
    return differences
  } finally {
    await service.stop()
  }
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
  const config = {
    ...(await service.config()),
    company: 'Demo',
    activity_structures: [...structures.values()],
  }
  await writeFile(configFile, `${JSON.stringify(config, null, 2)}\n`)
}

/** One sync with what happens before it, and the comparison of the warehouse with the service. */
async function sync(
  title: string,
  service: Service,
  signal: AbortSignal,
  before?: (service: Service) => Promise<void>,
): Promise<readonly Compared[]> {
  say(`\n${title}`)
  await before?.(service)
  const words = ['--config', configFile, '--warehouse', warehouseFile]
  const program = startProgram('protime', ['sync', ...words], signal)
  const output = await text(program.stdout)
  const code = await program.ended
  signal.throwIfAborted()
  if (code !== 0) throw new Error(`protime sync ended with ${code}:\n${program.stderr()}`)
  const { records, seconds } = JSON.parse(output) as { records: number; seconds: number }
  say(`  protime sync: ${grouped(records)} records in ${seconds.toFixed(1)} s`)
  return verify(service, signal)
}

async function verify(service: Service, signal: AbortSignal): Promise<readonly Compared[]> {
  const startedAt = Date.now()
  const compared: Compared[] = []
  const truth = (stream: string) => service.all(stream.replaceAll('_', '-'))
  for await (const one of compareWarehouse(warehouseFile, truth)) {
    signal.throwIfAborted()
    compared.push(one)
  }
  const rows = compared.reduce((sum, one) => sum + one.rows, 0)
  const found = compared.reduce((sum, { differences }) => sum + differences.length, 0)
  say(
    `  compared with ${grouped(rows)} records of the service in ${seconds(startedAt)}: ${found === 0 ? 'all equal' : `${grouped(found)} differ`}`,
  )
  return compared
}

function conclude(
  syncs: readonly (readonly Compared[])[],
  differences: readonly Difference[],
  startedAt: number,
): void {
  const head = ['stream', 'after the first sync', 'the second', 'the third']
  const streams = syncs[0]?.map(({ stream }) => stream) ?? []
  const numbers = streams.map((_, i) => syncs.map((compared) => compared[i]?.rows ?? 0))
  const totals = syncs.map((_, i) => numbers.reduce((sum, row) => sum + (row[i] ?? 0), 0))
  const rows = [...streams, 'total'].map((stream, i) => [
    stream,
    ...(numbers[i] ?? totals).map(grouped),
  ])
  say(`\nRows of the warehouse, which are those of the service\n\n${table(head, rows)}\n`)
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
