import { expect, it } from 'vitest'
import { optionsOf } from './main.ts'

it('turns flags into options', () => {
  const given = { people: '3', 'page-size': '5', dialect: 'specification', 'rate-limit': '10/50' }
  expect(optionsOf({ ...given, compress: true })).toEqual({
    people: 3,
    pageSize: 5,
    dialect: 'specification',
    rateLimit: { perSecond: 10, bucket: 50 },
    compress: true,
  })
})

it.each([
  [{ people: 'many' }, '--people takes a whole number, not "many"'],
  [{ 'page-size': '0' }, '--page-size takes 1 or more'],
  [{ dialect: 'dutch' }, '--dialect takes documentation or specification, not "dutch"'],
  [{ 'rate-limit': 'fast' }, '--rate-limit takes 10 or 10/50, not "fast"'],
])('explains the mistake in %j', (given, sentence) => {
  expect(() => optionsOf(given as Record<string, string>)).toThrow(sentence)
})
