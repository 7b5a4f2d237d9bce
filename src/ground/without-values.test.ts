import { expect, it } from 'vitest'
import { withoutValues } from './without-values.ts'

it.each([
  ['E-1042 belongs to 7', 'E-1042', '**** belongs to 7'],
  ['a/b?c belongs to 7', 'a/b?c', '**** belongs to 7'],
  ['a%2Fb is too long', 'a/b', '**** is too long'],
  ['The value E1 is not E10', 'E1', 'The value **** is not E10'],
  ['jan janssens is linked, JAN%20JANSSENS too', 'Jan Janssens', '**** is linked, **** too'],
  ['Rene\u0301 is linked', 'REN\u00c9', '**** is linked'],
  ['Jan is linked', ' Jan ', '**** is linked'],
])('%j without the value %j is %j', (text, value, left) => {
  expect(withoutValues(text, [value])).toBe(left)
})
