import assert from 'node:assert/strict'
import { describe, expect, it } from 'vitest'
import { type Random, seeded } from '../page/testing/generated-body.ts'
import type { Column, ColumnType } from './column.ts'
import { duckDbDialect } from './duckdb/dialect.ts'
import { PlainRows } from './plain-rows.ts'
import { createRowEncoder } from './row-encoder.ts'

/** `ROW_SEEDS=20000 npx vitest run src/warehouse/plain-rows` takes as many tables, and some minutes. */
const SEEDS = Number(process.env['ROW_SEEDS'] ?? 150)
const TIME = { timeout: 60_000 + 100 * SEEDS }

const LONG_NAME = 'longer-than-sixteen-characters-name'
const NAMES = ['id', 'a', 'bb', 'é', 'x y', '', '__proto__', LONG_NAME, `${LONG_NAME}2`]
const NAME_WITH_QUOTE = 'q"b'
const TYPES: readonly ColumnType[] = [
  ...(['JSON', 'VARCHAR', 'BIGINT', 'DOUBLE', 'BOOLEAN', 'DATE', 'TIMESTAMP_NS'] as const),
]

function pick<T>(random: Random, of: readonly T[]): T {
  return of[random(of.length)] as T
}

const two = (number: number) => String(number).padStart(2, '0')

const month = (random: Random) => (random(20) === 0 ? random(15) : 1 + random(12))

/** A day that mostly is one, of a year that DuckDB's times mostly reach. */
function day(random: Random): string {
  const year = pick(
    random,
    [2026, 2026, 2024, 2000, 1900, 1678, 1677, 2261, 2262, 1700, 2199, 1, 0],
  )
  return `${String(year).padStart(4, '0')}-${two(month(random))}-${two(random(8) === 0 ? random(34) : 1 + random(31))}`
}

function time(random: Random): string {
  const clock = () =>
    `${two(random(random(20) === 0 ? 26 : 24))}:${two(random(random(20) === 0 ? 62 : 60))}`
  const fraction = random(2) === 0 ? '' : `.${'1234567890'.slice(0, random(11))}`
  const zone = pick(random, [
    '',
    'Z',
    `+${clock()}`,
    `-${clock()}`,
    pick(random, ['Z', 'z', '+0200']),
  ])
  const seconds = random(20) === 0 ? '' : `:${two(random(61))}${fraction}`
  return `${day(random)}${random(20) === 0 ? ' ' : 'T'}${clock()}${seconds}${zone}`
}

function text(random: Random): string {
  const part = pick(random, ['x', 'é😀', '}', '{"a":[', ',', '0'])
  return part.repeat(random(random(200) === 0 ? 70_000 : 20))
}

function number(random: Random): string {
  const digits = (least: number) =>
    Array.from({ length: least + random(pick(random, [3, 9, 20])) }, () => random(10)).join('')
  const whole = random(3) === 0 ? '0' : `${1 + random(9)}${digits(0)}`
  const fraction = random(3) === 0 ? `.${digits(1)}` : ''
  return `${pick(random, ['', '-'])}${whole}${fraction}${pick(random, ['', '', '', 'e3', 'E-12'])}`
}

/** A value of any kind, as JSON. */
function anything(random: Random, depth = 0): string {
  const space = pick(random, ['', '', '', ' '])
  const items = () => Array.from({ length: random(4) }, () => anything(random, depth + 1))
  const kind = random(depth > 3 ? 8 : 10)
  if (kind === 8) return `[${items().join(`,${space}`)}]`
  if (kind === 9) return `{${items().map((item, i) => `"k${i}":${space}${item}`)}}`
  return pick(random, [
    () => number(random),
    () => JSON.stringify(text(random)),
    () => `"${day(random)}"`,
    () => `"${time(random)}"`,
    () => pick(random, ['true', 'false', 'null']),
    () => String.raw`"\u00e9\n\"\ud83d\ude00"`,
    () => String.raw`"\ud800\u0001\u001f"`,
    () => '""',
  ])()
}

const FITTING: Record<ColumnType, (random: Random) => string> = {
  JSON: anything,
  VARCHAR: (random) => `"${text(random).replaceAll('"', "'")}"`,
  BIGINT: (random) => String(random(1_000_000) - 500_000),
  DOUBLE: (random) => pick(random, [number(random), '1.5', '0', '-0.25']),
  BOOLEAN: (random) => pick(random, ['true', 'false']),
  DATE: (random) => `"${day(random)}"`,
  TIMESTAMP_NS: (random) => `"${time(random)}"`,
}

/** A line of `LINE_PARTS`, with its brace apart: mostly with the members of the columns, and values that fit them. */
function lineOf(random: Random, columns: readonly Column[]): string {
  const isOdd = random(4) === 0
  const members = columns.flatMap(({ property, type }) => {
    if (random(8) === 0) return []
    if (random(8) === 0) return [`${JSON.stringify(property)}:null`]
    const value = isOdd && random(6) === 0 ? anything(random) : FITTING[type](random)
    return [`${JSON.stringify(property)}:${value}`]
  })
  if (isOdd && random(3) === 0) members.reverse()
  if (isOdd && random(9) === 0) members.push(`"new${random(3)}":${anything(random)}`)
  if (isOdd && random(6) === 0 && members.length > 0) members.push(pick(random, members))
  const comma = isOdd && random(6) === 0 ? ' , ' : ','
  return `${members.join(comma)}${pick(random, ['}\n', '}\n', '}\n', isOdd ? '}d\n' : '}\n'])}`
}

/** All that becomes of lines, told as text. */
function rowsOf(columns: readonly Column[], lines: Buffer): unknown[] {
  const encoder = createRowEncoder(duckDbDialect, columns)
  const told: unknown[] = []
  for (let at = 0; at < lines.length; ) {
    const { rows, count, longest, end, added } = encoder.encode(lines, at)
    // The first ones of lines that are not plain begin elsewhere.
    told.push({ rows: rows.toString('latin1'), count, longest, added, isEnd: end === lines.length })
    at = end
  }
  return [...told, encoder.columns, encoder.present, [...encoder.misfits]]
}

describe('the rows of plain records', () => {
  it('lack columns until a record has a value for them', () => {
    const columns = ['id', 'a', 'b', 'c'].map((name) => ({
      property: name,
      name,
      type: 'BIGINT' as const,
    }))
    const lines = Buffer.from('{"id":1,"b":2}\n{"id":2,"a":null}\n{"id":3,"a":4}\n')
    const encoder = createRowEncoder(duckDbDialect, columns)
    const parts: string[] = []
    for (let at = 0; at < lines.length; ) {
      const { rows, end } = encoder.encode(lines, at)
      parts.push(rows.toString())
      at = end
    }
    expect(parts.filter((part) => part !== '')).toEqual([
      '0\x1f1\x1f2\n0\x1f2\x1f\x01\n',
      '0\x1f3\x1f\x01\x1f4\n',
    ])
    expect(encoder.present.map(({ name }) => name)).toEqual(['id', 'b', 'a'])
    expect(encoder.columns).toEqual(columns)
  })

  it(
    'are byte for byte those of the same records with a space, which are read in the general way',
    TIME,
    () => {
      let plainRows = 0
      let all = 0
      for (let seed = 1; seed <= SEEDS; seed++) {
        const random = seeded(seed)
        const names = NAMES.filter((name) => name === 'id' || random(3) > 0)
        if (random(9) === 0) names.push(NAME_WITH_QUOTE)
        const columns = names.map((name, index) => ({
          property: name,
          name: `c${index}`,
          type: pick(random, TYPES),
        }))
        const lines = Array.from({ length: random(200) }, () => lineOf(random, columns))
        const plain = Buffer.from(lines.map((line) => `{${line}`).join(''))
        const spaced = Buffer.from(lines.map((line) => `{ ${line}`).join(''))
        assert.deepEqual(rowsOf(columns, plain), rowsOf(columns, spaced), `seed ${seed}`)
        all += lines.length
        plainRows += taken(columns, lines)
      }
      assert.ok(plainRows > all / 5, `${plainRows} of ${all} records are plain`)
      assert.ok(plainRows < all, 'no record is anything but plain')
    },
  )

  it('equal those of the general encoder even if they are much longer than the records', () => {
    const columns = Array.from({ length: 1000 }, (_, i) => ({
      property: `${i}${'x'.repeat(i % 100)}`,
      name: `c${i}`,
      type: 'JSON' as const,
    }))
    const lines = Array.from({ length: 2000 }, (_, i) => `"${columns[i % 1000]?.property}":${i}}\n`)
    const [plain, spaced] = ['{', '{ '].map((open) =>
      Buffer.from(lines.map((line) => `${open}${line}`).join('')),
    ) as [Buffer, Buffer]
    assert.deepEqual(rowsOf(columns, plain), rowsOf(columns, spaced))
  })
})

/** How many of the lines are plain. */
function taken(columns: readonly Column[], lines: readonly string[]): number {
  const rows = new PlainRows()
  for (const { type, property } of columns) rows.addColumn(type, Buffer.from(property))
  let taken = 0
  for (const line of lines) {
    rows.begin(Buffer.from(`{${line}`))
    rows.encode(0, (_rows, count) => {
      taken += count
    })
  }
  return taken
}
