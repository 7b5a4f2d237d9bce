import { createPageScanner } from '../src/page/create-page-scanner.ts'
import type { PageScanner } from '../src/page/page-scanner.ts'
import { type LineParts, releaseBuffer } from '../src/records/record-batch.ts'
import { clocking } from './connector.ts'

// What the record path costs without network and pipe: the scanner, and parse plus stringify take turns
// over the same pages, so that a busy machine slows both alike.

const PAGES = 20
const RECORDS_PER_PAGE = 1000
const ROUNDS = 15

const shape = {
  key: 'id',
  version: 'changeVersion',
  deleted: { field: 'status', value: 'Deleted' },
  array: 'activityLevels',
}
const head = '{"type":"RECORD","record":{"stream":"clockings","emitted_at":1700000000000,"data":'
const parts: LineParts = {
  prefix: Buffer.from(head),
  suffix: Buffer.from(',"_ab_cdc_deleted_at":null}}}\n'),
  deleteSuffix: Buffer.from(',"_ab_cdc_deleted_at":"2026-01-01T00:00:00Z"}}}\n'),
}

function page(number: number): Buffer {
  const records = Array.from({ length: RECORDS_PER_PAGE }, (_, i) => {
    return clocking(number * RECORDS_PER_PAGE + i)
  })
  return Buffer.from(`{"value":[${records.join(',')}],"nextLink":"/clockings?page=${number}"}`)
}

/** Pages in, lines, keys and versions out; returns the bytes of the lines. */
type Technique = (body: Buffer) => number

function scanned(scanner: PageScanner): Technique {
  return (body) => {
    scanner.begin()
    const batch = scanner.push(body)
    const keys = batch.keys.reduce((sum, key) => sum + key, 0)
    if (!(keys > 0) || batch.highestVersion === undefined) throw new Error('keys are missing')
    scanner.end()
    const lines = batch.lines(parts)
    releaseBuffer(lines)
    return lines.length
  }
}

function parsed(body: Buffer): number {
  const { value }: { value: { id: number; changeVersion: string }[] } = JSON.parse(body.toString())
  let lines = ''
  let highest = ''
  for (const data of value) {
    if (data.changeVersion > highest) highest = data.changeVersion
    lines += `${head}${JSON.stringify({ ...data, _ab_cdc_deleted_at: null })}}}\n`
  }
  return Buffer.from(lines).length
}

function millisecondsOf(technique: Technique, bodies: readonly Buffer[]): number {
  const start = performance.now()
  for (const body of bodies) technique(body)
  return performance.now() - start
}

const bodies = Array.from({ length: PAGES }, (_, number) => page(number))
const bytes = bodies.reduce((sum, body) => sum + body.length, 0)
const techniques: Readonly<Record<string, Technique>> = {
  'parse and stringify': parsed,
  'scan in WebAssembly': scanned(createPageScanner(shape)),
}
const best = new Map<string, number>()
for (let round = 0; round < ROUNDS; round++) {
  for (const [name, technique] of Object.entries(techniques)) {
    const taken = millisecondsOf(technique, bodies)
    best.set(name, Math.min(taken, best.get(name) ?? Number.POSITIVE_INFINITY))
  }
}
const yardstick = best.get('parse and stringify') ?? Number.NaN
for (const [name, taken] of best) {
  const perMillion = (taken / (PAGES * RECORDS_PER_PAGE)) * 1000
  process.stdout.write(
    `${name.padEnd(20)} ${(bytes / taken / 1000).toFixed(0).padStart(5)} MB/s ` +
      `${perMillion.toFixed(2).padStart(6)} s per million ${(yardstick / taken).toFixed(2).padStart(6)} times parse and stringify\n`,
  )
}
