import { expect, it } from 'vitest'
import { redact } from './redact.ts'

it.each([
  ['E-1042 belongs to 7', 'E-1042', '**** belongs to 7'],
  ['a/b?c belongs to 7', 'a/b?c', '**** belongs to 7'],
  ['a%2Fb is too long', 'a/b', '**** is too long'],
  ['The value E1 is not E10', 'E1', 'The value **** is not E10'],
])('%j without the value %j is %j', (text, value, redacted) => {
  expect(redact(text, [value])).toBe(redacted)
})
