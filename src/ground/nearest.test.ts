import { expect, it } from 'vitest'
import { nearest } from './nearest.ts'

const NAMES = ['people', 'jobs', 'job-categories', 'start_date']

it.each([
  ['peple', 'people'],
  ['poeple', 'people'],
  ['start_dat', 'start_date'],
  ['startdate', 'start_date'],
  ['job', 'jobs'],
  ['clockings', undefined],
  ['x', undefined],
  ['', undefined],
])('%j was meant to be %j', (mistyped, name) => {
  expect(nearest(mistyped, NAMES)).toBe(name)
})
