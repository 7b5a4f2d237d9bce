import { setTimeout as sleep } from 'node:timers/promises'
import {
  chunked,
  endlessBodies,
  endlessReferences,
  inCrumbs,
  repeated,
  reply,
  startRawService,
  type Wire,
} from '../../integration-tests/hostile/raw-service.ts'
import { clocking, LINE_BYTES, withConnector } from '../connector.ts'
import {
  type Cost,
  inTurn,
  type Judged,
  type MeasureOptions,
  measure,
  peakLine,
  startServer,
} from '../measure.ts'

/** The peak for a body in tiny chunks varies with the garbage that is left, so the median of this many runs counts. */
const CRUMB_ROUNDS = 5
const PAGE_RECORDS = 600_000
/** This file, as a program that reads its input slowly; see `readSlowly`. */
const SLOW_READER = `'${process.execPath}' '${import.meta.filename}'`

/** The memory that hostile answers take: bodies without an end, in tiny chunks, or for a slow reader. */
export async function* memory(): AsyncGenerator<Judged> {
  for (const { name, wire, megabytes } of endlessBodies) {
    const { peakMegabytes } = await costOf(wire, GIVEN_UP)
    yield peakLine(`a body without an end ${name}`, peakMegabytes, megabytes)
  }
  const { name, wire, megabytes } = endlessReferences
  const references = await costOf(wire, GIVEN_UP, 'external_references')
  yield peakLine(`a body without an end ${name}`, references.peakMegabytes, megabytes)
  const of = await inTurn(CRUMB_ROUNDS, {
    'a small page in chunks of one byte': () => costOf(() => inCrumbs(4_000_000)),
    'a large page in chunks of one byte': () => costOf(() => inCrumbs(9_000_000)),
  })
  for (const page of [
    'a small page in chunks of one byte',
    'a large page in chunks of one byte',
  ] as const)
    yield peakLine(page, of(page, 'peakMegabytes'), 150)
  const reader = `${SLOW_READER} 1000000 5`
  const slow = await costOf(largePageWire, { reader })
  yield peakLine(`a page of ${PAGE_RECORDS} records at 1 MB/s for 5 s`, slow.peakMegabytes, 150)
}

/** The exit code of a read that fails. */
const GIVEN_UP = { exitCode: 1 }

async function costOf(
  wire: () => Wire,
  options: MeasureOptions = {},
  stream = 'job_categories',
): Promise<Cost> {
  const token = JSON.stringify({ access_token: 'bench-token', expires_in: 1800 })
  const service = await startRawService(({ target }) =>
    target.includes('/connect/token') ? reply(200, token) : wire(),
  )
  try {
    // 0, because a damaged page would be requested again until these minutes are over.
    const reading = { origin: service.url, streams: [stream], retryMinutes: 0 }
    return await withConnector(reading, (program) => measure(program, options))
  } finally {
    await service.close()
  }
}

function largePageWire(): Wire {
  const records = Array.from({ length: 300 }, (_, i) => clocking(i)).join(',')
  return chunked(repeated('{"value":[', `${records},`, PAGE_RECORDS / 300, `${clocking(0)}]}`))
}

const CHANGES = 1_150_000

/** One delta answer of more than 300 MB on a single page: memory must not follow its size. */
export async function* largePage(): AsyncGenerator<Judged> {
  const server = await startServer({ pages: 1, pageSize: 1, changes: CHANGES })
  try {
    const cost = await withConnector({ origin: server.origin, streams: ['clockings'] }, (program) =>
      measure(program),
    )
    yield peakLine(`${CHANGES} changes in ${cost.seconds.toFixed(1)} s`, cost.peakMegabytes, 150)
  } finally {
    await server.stop()
  }
}

const SECONDS = 60
const BYTES_PER_SECOND = 1_000_000
const PAGE_SIZE = 1000

/** A destination that takes 1 MB/s for a minute: what waits must wait at the service, not in memory. */
export async function* slowReader(): AsyncGenerator<Judged> {
  const pages = Math.ceil((SECONDS * BYTES_PER_SECOND) / (LINE_BYTES * PAGE_SIZE))
  const server = await startServer({ pages, pageSize: PAGE_SIZE })
  const reader = `${SLOW_READER} ${BYTES_PER_SECOND}`
  try {
    const cost = await withConnector({ origin: server.origin, streams: ['clockings'] }, (program) =>
      measure(program, { reader }),
    )
    yield peakLine(`${cost.seconds.toFixed(0)} s at 1 MB/s`, cost.peakMegabytes, 150)
  } finally {
    await server.stop()
  }
}

/** Reads stdin at so many bytes a second, like a slow destination, for some seconds or for as long as there is input. */
async function readSlowly(bytesPerSecond: number, seconds: number): Promise<void> {
  const startedAt = performance.now()
  let bytes = 0
  for await (const chunk of process.stdin) {
    bytes += (chunk as Buffer).length
    const due = startedAt + (bytes / bytesPerSecond) * 1000
    const early = due - performance.now()
    const isSlow = performance.now() - startedAt < seconds * 1000
    if (early > 0 && isSlow) await sleep(early)
  }
}

if (process.argv[1] === import.meta.filename) {
  const [bytesPerSecond, seconds = Number.POSITIVE_INFINITY] = process.argv.slice(2)
  await readSlowly(Number(bytesPerSecond), Number(seconds))
}
