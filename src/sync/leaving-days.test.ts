import { expect, it } from 'vitest'
import type { RetainedMonths } from '../config/config.ts'
import { type KeptDays, leavingDays } from './leaving-days.ts'
import { INITIAL, LIST } from './position.ts'
import { AT, CHANGES } from './testing/positions.ts'

const inDays = (days: number) => new Date(AT.getTime() + days * 86_400_000)
const PAGE = { url: '/clockings?page=2', at: AT }

interface Given extends Partial<KeptDays> {
  readonly retention?: readonly RetainedMonths[]
  readonly startDate?: string | undefined
  /** The time of the service. */
  readonly there?: Date
}

/** The days that leave if two months are kept and the last sync kept all of 2026, but for what is given. */
function leaving(given: Given): string | undefined {
  const { retention = [{ months: 2 }], startDate, there = AT, ...more } = given
  const kept: KeptDays = {
    stream: { stream: 'clockings', dateField: 'date' },
    mode: 'incremental',
    position: CHANGES,
    start: '2026-01-01',
    leavingFrom: null,
    leftFrom: null,
    withheldSince: null,
    ...more,
  }
  const clock = { now: () => there, here: () => AT }
  const days = leavingDays(kept, { retention, startDate }, clock)
  return days && `${days.from} to ${days.start}, by ${days.dateField}`
}

const LEAVES = '2026-01-01 to 2026-09-01, by date'

it.each<[string, Given, string | undefined]>([
  ['those before the oldest month that is kept', {}, LEAVES],
  [
    'those before a later start date',
    { retention: [], startDate: '2026-06-15' },
    '2026-01-01 to 2026-06-15, by date',
  ],
  ['none if nothing is configured', { retention: [] }, undefined],
  ['none if an earlier day is configured', { retention: [{ months: 40 }] }, undefined],
  ['none if they have left', { start: '2026-09-01' }, undefined],
  ['none of another stream', { retention: [{ stream: 'absences', months: 2 }] }, undefined],
  [
    'none of a stream without days',
    { start: null, stream: { stream: 'people', dateField: undefined } },
    undefined,
  ],
  [
    'none of a stream that had days before',
    { stream: { stream: 'people', dateField: undefined } },
    undefined,
  ],
  ['none in a full refresh', { mode: 'full_refresh' }, undefined],
  [
    'the rest of those that an earlier sync has begun to delete',
    { start: '2026-09-01', leavingFrom: '2026-01-01' },
    LEAVES,
  ],
  [
    'more, if an earlier sync has not deleted all',
    { start: '2026-08-01', leavingFrom: '2026-01-01' },
    LEAVES,
  ],
  [
    'those that have left once more, while deletes are withheld',
    { start: '2026-09-01', leftFrom: '2026-01-01', withheldSince: AT },
    LEAVES,
  ],
  [
    'none that have left, if no deletes are withheld',
    { start: '2026-09-01', leftFrom: '2026-01-01' },
    undefined,
  ],
  ['those before the first page of a delta', { position: INITIAL }, LEAVES],
  ['none within the first phase of a delta', { position: { ...INITIAL, page: PAGE } }, undefined],
  ['those before the first list', { position: LIST }, LEAVES],
  ['none within a list', { position: { ...LIST, until: '2026-12-31' } }, undefined],
  ['those by the time of the service', { there: inDays(30) }, '2026-01-01 to 2026-10-01, by date'],
  [
    'those by a service that is a year ahead',
    { there: inDays(366) },
    '2026-01-01 to 2027-09-01, by date',
  ],
  [
    'those by the time of this machine if the service is further ahead',
    { there: inDays(367) },
    LEAVES,
  ],
])('the days that leave are %s', (_, given, expected) => {
  expect(leaving(given)).toBe(expected)
})
