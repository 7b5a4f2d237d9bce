import { DuckDBInstance } from '@duckdb/node-api'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { claim, isOwned, nextMoment, readStates, storeStates } from './account.ts'
import { createLanding } from './duckdb/landing.ts'
import type { Landing, Owner } from './landing.ts'

const OWNER: Owner = { tenant: 'acme', environment: 'production', redaction: 'abc' }
const UNOWNED = 'DROP TABLE _protime.owner'

let landing: Landing
beforeEach(async () => {
  const connection = await (await DuckDBInstance.create(':memory:', { threads: '1' })).connect()
  landing = createLanding('', { connection, close: () => connection.closeSync() })
  const { sql } = landing
  const statements = ['CREATE SCHEMA _protime', ...claim(sql, OWNER)]
  await landing.run(statements.join(';\n'))
})
afterEach(() => landing.close())

describe('an account', () => {
  it.each([
    ['of this owner is', true, ''],
    ['of nobody is not', false, `${UNOWNED}; DROP TABLE _protime.states`],
    ['of the form before is, where that is allowed', true, 'UPDATE _protime.owner SET format = 2'],
  ])('%s owned', async (_, expected, change) => {
    if (change !== '') await landing.run(change)
    expect(await isOwned(landing, 'w', OWNER, 2)).toBe(expected)
  })

  it.each<[string, string, Partial<Owner>, RegExp?]>([
    ['of another tenant', 'warehouse-of-another-tenant', { tenant: 'bolt' }, /of another tenant/],
    ['of another environment', 'warehouse-of-another-tenant', { environment: 'sandbox' }],
    ['that was redacted otherwise', 'redacted-otherwise', { redaction: 'x' }],
  ])('%s is refused', async (_, id, other, message = /./) => {
    const asked = isOwned(landing, 'w', { ...OWNER, ...other }, 2)
    await expect(asked).rejects.toMatchObject({
      failure: 'config',
      id,
      message: expect.stringMatching(message),
    })
  })

  const form = (format: number) => `UPDATE _protime.owner SET format = ${format}`
  it.each([
    ['from before files had owners', UNOWNED, 2, /that is earlier.*Remove it/],
    ['of the form before', form(2), 3, /that is earlier.*Run protime sync/],
    ['of an earlier form', form(1), 2, /that is earlier.*Remove it/],
    ['of a later form', form(4), 2, /that is later.*Update the program/],
  ])('%s is refused, and what to do is said', async (_, change, allowed, message) => {
    await landing.run(change)
    await expect(isOwned(landing, 'w', OWNER, allowed)).rejects.toMatchObject({
      failure: 'config',
      id: 'made-by-another-version',
      message: expect.stringMatching(message),
    })
  })
})

it.each([
  ['is the time', '2026-11-02T09:00:00Z', '2026-11-02T09:00:00.000000Z'],
  [
    'is later than the one before, if the clock is the same',
    '2026-11-01T09:00:00Z',
    '2026-11-01T09:00:00.000001Z',
  ],
  [
    'is later than the one before, if the clock was set back',
    '2020-01-01T00:00:00Z',
    '2026-11-01T09:00:00.000001Z',
  ],
])('the moment of a transaction %s', async (_, at, expected) => {
  await nextMoment(landing, new Date('2026-11-01T09:00:00Z'))
  expect(await nextMoment(landing, new Date(at))).toContain(expected)
})

it('states are replaced or removed, and those of other streams stay', async () => {
  await storeStates(
    landing,
    new Map([
      ['a', '1'],
      ['b', '2'],
      ['c', '3'],
    ]),
  )
  await storeStates(
    landing,
    new Map([
      ['a', '{"it\'s":4}'],
      ['b', null],
      ['d', '5'],
    ]),
  )
  await storeStates(landing, new Map())
  expect([...(await readStates(landing))].sort()).toEqual([
    ['a', { "it's": 4 }],
    ['c', 3],
    ['d', 5],
  ])
})
