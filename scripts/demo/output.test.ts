import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { removeLeftovers, table } from './output.ts'

let folder: string
beforeEach(() => {
  folder = join(mkdtempSync(join(tmpdir(), 'leftovers-')), 'demo-output')
})
afterEach(() => rmSync(join(folder, '..'), { recursive: true }))

describe('the remains of an earlier demo', () => {
  it('is reported before it is removed', async () => {
    mkdirSync(join(folder, 'warehouse.duckdb.sync'), { recursive: true })
    writeFileSync(join(folder, 'warehouse.duckdb'), '')
    const told: string[][] = []
    await removeLeftovers(folder, (names) => {
      told.push(names.filter((name) => existsSync(join(folder, name))))
    })
    expect(told).toEqual([['warehouse.duckdb', 'warehouse.duckdb.sync']])
    expect(readdirSync(folder)).toEqual([])
  })

  it('is all that is removed', async () => {
    mkdirSync(folder)
    for (const name of ['mine.csv', 'config.json']) writeFileSync(join(folder, name), '')
    await removeLeftovers(folder, () => {})
    expect(readdirSync(folder)).toEqual(['mine.csv'])
  })

  it('is nothing before the first demo, which finds the folder made', async () => {
    await removeLeftovers(folder, () => expect.unreachable())
    expect(existsSync(folder)).toBe(true)
  })
})

it('aligns numbers to the right and texts to the left', () => {
  const text = table(
    ['stream', 'rows', 'share'],
    [
      ['people', '1,300', '0.5'],
      ['job_histories', '7', ''],
    ],
  )
  expect(text.split('\n')).toEqual([
    'stream          rows  share',
    '-------------  -----  -----',
    'people         1,300    0.5',
    'job_histories      7',
  ])
})

it('shows the header of a result without rows', () => {
  expect(table(['a', 'bc'], [])).toBe('a  bc\n-  --')
})
