import assert from 'node:assert/strict'
import { isUtf8 } from 'node:buffer'
import fc from 'fast-check'
import { describe, it } from 'vitest'
import { UPSERT } from '../records/record-batch.ts'
import { createPageScanner } from './create-page-scanner.ts'
import { BodyWriter, type Random, seeded, shapedBodies } from './testing/generated-body.ts'
import {
  judgedByParse,
  type ObservedPage,
  observeOrError,
  parts,
  shape,
} from './testing/observe.ts'

const fast = createPageScanner(shape)
/** Scans in pieces that are too small for a whole element, so that elements are never compared with earlier ones. */
const careful = createPageScanner(shape)
const PIECE_BYTES = 7

/**
 * The number of bodies of each kind; the nightly run uses two hundred times as many. With faults planted in the
 * scanner, the first 100 bodies found every fault that any number of bodies found.
 */
const BODIES = Number(process.env['SCANNER_BODIES'] ?? 150)
const BODIES_CUT_EVERYWHERE = Math.ceil(BODIES / 50)

/**
 * Fails unless the scanner accepts and refuses the same bodies as JSON.parse, with the same result and the same
 * message however the body is cut. Only for invalid UTF-8 may the reported position depend on the cut.
 */
function judge(body: Buffer, ways: readonly (readonly number[])[], scanner = fast): void {
  const truth = judgedByParse(body)
  const inPieces =
    truth === undefined && isUtf8(body) && observeOrError(careful, body, piecesOf(body))
  for (const cuts of ways) {
    const seen = observeOrError(scanner, body, cuts)
    if (truth !== undefined) {
      assert.deepEqual(asParsed(seen), truth)
      assertConsistent(seen as ObservedPage, body)
    } else {
      assert.match(String(seen), /^(?:MalformedPage|LastingDamage)Error: /)
      if (inPieces !== false) assert.equal(seen, inPieces)
    }
  }
}

function piecesOf(body: Uint8Array): number[] {
  return Array.from({ length: Math.floor(body.length / PIECE_BYTES) }, (_, i) => i * PIECE_BYTES)
}

/** Fails unless the results for several forms of a page are equal. */
function assertConsistent({ records, highest, lines }: ObservedPage, body: Buffer): void {
  const flat = body.toString().replace(/[\r\n]/g, ' ')
  let at = 0
  let allLines = ''
  for (const { text, key, keyText, kind, date } of records) {
    assert.equal(key, keyNumber(keyText))
    const day = firstBytes(JSON.parse(text).date)
    if (date === undefined) assert.ok(day.length < 10 || text.includes('\\'), text)
    else assert.equal(date, day)
    // Only a single object that becomes an array is rewritten.
    const found = flat.indexOf(text, at)
    if (found >= 0) at = found + text.length
    else assert.ok(Array.isArray(JSON.parse(text).x), text)
    const end = kind === UPSERT ? parts.suffix : parts.deleteSuffix
    allLines += `${parts.prefix}${text.slice(0, -1)}${end}`
  }
  assert.equal(lines, allLines)
  assert.equal(greatest(highest), greatest(records.map(({ version }) => version)))
}

/** The first ten bytes of a text; empty for any other value. */
function firstBytes(value: unknown): string {
  return typeof value === 'string' ? Buffer.from(value).toString('latin1', 0, 10) : ''
}

function keyNumber(text: string): number {
  return /^\d{1,16}$/.test(text) && Number.isSafeInteger(Number(text)) ? Number(text) : Number.NaN
}

function greatest(versions: readonly (string | undefined)[]): string | undefined {
  return versions
    .filter((version) => version !== undefined)
    .toSorted()
    .at(-1)
}

function asParsed(seen: ObservedPage | string): unknown {
  if (typeof seen === 'string') return seen
  const records = seen.records.map(({ text, kind, keyText, version }) => ({
    value: JSON.parse(text),
    kind,
    key: JSON.parse(keyText),
    version,
  }))
  return { records, end: seen.end }
}

function cutsOf(random: Random, length: number): number[] {
  return Array.from({ length: random(6) }, () => random(length + 1))
}

function mutated(random: Random, body: Buffer): Buffer {
  const at = random(body.length)
  const before = body.subarray(0, at)
  const after = body.subarray(at + 1)
  const odd = '{}[]",:\\ \n0-+.eEtfnu\0\x1f\x7f\x80\xc3\xed\xf0\xff'
  switch (random(5)) {
    case 0:
      return before
    case 1:
      return Buffer.concat([before, after])
    case 2:
      return Buffer.concat([before, Buffer.from([random(256)]), after])
    case 3:
      return Buffer.concat([before, Buffer.from(odd.charAt(random(odd.length)), 'latin1'), after])
    default:
      return Buffer.concat([before, body.subarray(at, at + 1), body.subarray(at)])
  }
}

describe('scanning generated pages', () => {
  it('reads what JSON.parse reads, however the body is cut', () => {
    for (let seed = 0; seed < BODIES; seed++) {
      const random = seeded(seed)
      const body = Buffer.from(new BodyWriter(random).body())
      judge(body, [cutsOf(random, body.length)])
    }
  })

  it('accepts a body with one damaged byte exactly if JSON.parse does', () => {
    for (let seed = 0; seed < 2 * BODIES; seed++) {
      const random = seeded(1_000_000 + seed)
      const body = mutated(random, Buffer.from(new BodyWriter(random).body()))
      judge(body, [cutsOf(random, body.length)])
    }
  })

  it('does not depend on where the chunks are cut, at any place of a body', () => {
    for (let seed = 0; seed < BODIES_CUT_EVERYWHERE; seed++) {
      const body = Buffer.from(new BodyWriter(seeded(2_000_000 + seed)).body())
      const places = Array.from(body, (_, index) => index)
      judge(body, [places, [body.length], ...places.map((place) => [place])])
    }
  })
})

describe('scanning elements that look like those before', () => {
  it('reads what JSON.parse reads, wherever one of them differs', () => {
    for (let seed = 0; seed < BODIES; seed++) {
      const random = seeded(5_000_000 + seed)
      // After too many shapes, the scanner does not look for shapes for a while.
      const scanner = createPageScanner(shape)
      for (const text of shapedBodies(random)) {
        const body = random(10) === 0 ? mutated(random, Buffer.from(text)) : Buffer.from(text)
        judge(body, [random(3) === 0 ? cutsOf(random, body.length) : []], scanner)
      }
    }
  })
})

describe('scanning any JSON', () => {
  it('agrees with JSON.parse on values of any shape inside a record', () => {
    const page = fc.tuple(fc.array(fc.tuple(fc.nat(), fc.jsonValue())), fc.nat(9))
    fc.assert(
      fc.property(page, fc.array(fc.nat(500), { maxLength: 4 }), ([values, indent], cuts) => {
        const value = values.map(([id, x]) => ({ id, x }))
        judge(Buffer.from(JSON.stringify({ value }, null, indent)), [cuts])
      }),
      { numRuns: 200 },
    )
  })

  it('agrees with JSON.parse on any text in the place of a value', () => {
    const text = fc.string({ unit: fc.constantFrom(...'{}[]",:\\u0aAeE+-.19tfrunls \n\t\r\0é') })
    fc.assert(
      fc.property(text, fc.array(fc.nat(40), { maxLength: 4 }), (value, cuts) => {
        judge(Buffer.from(`{"value":[{"id":1,"x":${value}}]}`), [cuts])
      }),
      { numRuns: 1000 },
    )
  })

  it('agrees with JSON.parse on bytes that may not be text', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 12 }), fc.array(fc.nat(40)), (bytes, cuts) => {
        const body = Buffer.concat([
          Buffer.from('{"value":[{"id":1,"x":"'),
          bytes,
          Buffer.from('"}]}'),
        ])
        judge(body, [cuts])
      }),
      { numRuns: 500 },
    )
  })
})
