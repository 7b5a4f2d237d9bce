import { describe, expect, it } from 'vitest'
import { ask } from '../../integration-tests/testing/protime.ts'
import type { ColumnType } from './column.ts'
import { duckDbDialect } from './duckdb/dialect.ts'
import { fits, fitting } from './fit.ts'

/** Texts of each type that fit, and texts that casts would round or take for something else. */
const CASES: readonly [ColumnType, readonly string[], readonly string[]][] = [
  [
    'BIGINT',
    ['0', '-7', '9007199254740993', '9223372036854775807', '-9223372036854775808'],
    ['3.5', '3.0', '1e3', '1_0', '4_3', '007', '+5', ' 5', '0x10', '', '9223372036854775808'],
  ],
  [
    'DOUBLE',
    ['0', '-51.25', '51.20', '1e3', '1E-7', '1.5e300', '0.1', '5e-324'],
    ['nan', 'inf', '-Infinity', '4_3.5', '.5', '5.', '1e400', '0.10000000000000000001', '', '1,5'],
  ],
  ['BOOLEAN', ['true', 'false'], ['t', 'yes', '1', 'TRUE', '']],
  [
    'DATE',
    ['2026-01-05', '0001-01-01', '2024-02-29'],
    ['2026-01-05garbage', 'epoch', 'infinity', '2026-1-5', '2026-02-29', '0000-01-01', '20260105'],
  ],
  [
    'TIMESTAMP_NS',
    [
      '2026-01-05T08:00:00Z',
      '2026-01-05 08:00',
      '2026-01-05T08:00:00.123456789+02:00',
      '1678-01-01T00:00:00',
    ],
    [
      'epoch',
      '2026-01-05',
      '2026-01-05T24:00:00',
      '2026-01-05T08:00+02:00',
      '9999-01-01T00:00:00Z',
    ],
  ],
]

/** The text as the JSON value that a record has: days and times are texts. */
function json(type: ColumnType, text: string): string {
  return type === 'DATE' || type === 'TIMESTAMP_NS' ? JSON.stringify(text) : text
}

describe.each(CASES)('what fits into a %s', (type, fitting_, others) => {
  const all = [...fitting_, ...others]
  const expected = all.map((text) => [text, fitting_.includes(text)])

  it('is so for the loader', () => {
    const decided = all.map((text) => {
      const bytes = Buffer.from(json(type, text))
      return [text, bytes.length > 0 && fits(type, bytes, 0, bytes.length)]
    })
    expect(decided).toEqual(expected)
  })

  it('is so for a view', async () => {
    const values = all.map((text) => `('${text}')`).join(', ')
    const rows = await ask(
      ':memory:',
      `SELECT text, ${fitting(duckDbDialect, 'text', type)} IS NOT NULL AS fits FROM (VALUES ${values}) AS texts (text)`,
    )
    expect(rows.map((row) => [row['text'], row['fits']])).toEqual(expected)
  })
})
