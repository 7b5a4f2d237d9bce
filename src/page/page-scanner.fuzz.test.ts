import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createPageScanner } from './create-page-scanner.ts'
import { BodyWriter, type Random, seeded, shapedBodies } from './testing/generated-body.ts'
import { judgedByParse, type ObservedPage, observeOrError, shape } from './testing/observe.ts'
import { createReferenceScanner } from './testing/reference-scanner.ts'

const reference = createReferenceScanner(shape)
const fast = createPageScanner(shape)

/** `SCANNER_SEEDS=500000 npx vitest run src/page` judges a million bodies, which takes some minutes. */
const SHAPED_SEEDS = Number(process.env['SCANNER_SEEDS'] ?? 2000)

/** Fails unless both scanners tell the same of the body, and what JSON.parse tells of it. */
function judge(body: Uint8Array, cuts: readonly number[], scanner = fast): void {
  const seen = observeOrError(scanner, body, cuts)
  expect(seen).toEqual(observeOrError(reference, body, cuts))
  const truth = judgedByParse(body)
  if (truth === undefined) expect(seen).toMatch(/^MalformedPageError: /)
  else expect(asParsed(seen)).toEqual(truth)
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

function mutated(random: Random, body: Uint8Array): Uint8Array {
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
  it('reads what JSON.parse reads, with either scanner, however the body is cut', () => {
    for (let seed = 0; seed < 3000; seed++) {
      const random = seeded(seed)
      const body = Buffer.from(new BodyWriter(random).body())
      judge(body, cutsOf(random, body.length))
    }
  })

  it('accepts a body with one damaged byte exactly if JSON.parse does', () => {
    for (let seed = 0; seed < 6000; seed++) {
      const random = seeded(1_000_000 + seed)
      const body = mutated(random, Buffer.from(new BodyWriter(random).body()))
      judge(body, cutsOf(random, body.length))
    }
  })

  it('does not depend on where the chunks are cut, at any place of a body', () => {
    for (let seed = 0; seed < 40; seed++) {
      const body = Buffer.from(new BodyWriter(seeded(2_000_000 + seed)).body())
      for (let cut = 0; cut <= body.length; cut++) judge(body, [cut])
      judge(
        body,
        Array.from(body, (_, index) => index),
      )
    }
  })

  it('passes the bytes of a record on as they came, but for line breaks between tokens', () => {
    const { array: _, ...plain } = shape
    const scanner = createPageScanner(plain)
    for (let seed = 0; seed < 1000; seed++) {
      const body = new BodyWriter(seeded(3_000_000 + seed)).body()
      const seen = observeOrError(scanner, Buffer.from(body))
      if (typeof seen === 'string') continue
      const flat = body.replace(/[\r\n]/g, ' ')
      for (const { text } of seen.records) expect(flat).toContain(text)
    }
  })

  it('writes a line of JSON for every record, with its tail', () => {
    for (let seed = 0; seed < 1000; seed++) {
      const seen = observeOrError(
        fast,
        Buffer.from(new BodyWriter(seeded(4_000_000 + seed)).body()),
      )
      if (typeof seen === 'string') continue
      const lines = seen.lines.split('\n').slice(0, -1)
      expect(lines.map((line) => JSON.parse(line).data)).toEqual(
        seen.records.map(({ text, kind }) => ({
          ...JSON.parse(text),
          tail: kind === 0 ? 'live' : 'removed',
        })),
      )
    }
  })
})

describe('scanning elements that look like those before', () => {
  it('reads what JSON.parse reads, wherever one of them differs', () => {
    for (let seed = 0; seed < SHAPED_SEEDS; seed++) {
      const random = seeded(5_000_000 + seed)
      // One that has met too many shapes does not look for them for a while.
      const scanner = createPageScanner(shape)
      for (const text of shapedBodies(random)) {
        const body = random(10) === 0 ? mutated(random, Buffer.from(text)) : Buffer.from(text)
        judge(body, random(3) === 0 ? cutsOf(random, body.length) : [], scanner)
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
        judge(Buffer.from(JSON.stringify({ value }, null, indent)), cuts)
      }),
      { numRuns: 500 },
    )
  })

  it('agrees with JSON.parse on any text in the place of a value', () => {
    const text = fc.string({ unit: fc.constantFrom(...'{}[]",:\\u0aAeE+-.19tfrunls \n\t\r\0é') })
    fc.assert(
      fc.property(text, fc.array(fc.nat(40), { maxLength: 4 }), (value, cuts) => {
        judge(Buffer.from(`{"value":[{"id":1,"x":${value}}]}`), cuts)
      }),
      { numRuns: 3000 },
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
        judge(body, cuts)
      }),
      { numRuns: 2000 },
    )
  })
})
