import { createHmac } from 'node:crypto'
import { expect, it } from 'vitest'
import { createPseudonyms, yearOf } from './pseudonym.ts'

const KEY = 'a-key-of-sixteen-characters'
const pseudonym = createPseudonyms(KEY)
const hmac = (text: string) => createHmac('sha256', KEY).update(text).digest('hex')

it('gives a text and a number that are written alike the same pseudonym', () => {
  expect([pseudonym('"042"'), pseudonym('42'), pseudonym('"42"')]).toEqual(
    ['042', '42', '42'].map((text) => JSON.stringify(hmac(text))),
  )
})

it('knows a text by what it says, however it is escaped', () => {
  expect(pseudonym('"\\u00e9"')).toBe(pseudonym('"é"'))
})

it('leaves null and an empty text, which tell nothing', () => {
  expect(['null', '""'].map(pseudonym)).toEqual(['null', '""'])
})

it('replaces each value in an object or a list', () => {
  expect(JSON.parse(pseudonym('{"a":["x",null,{"b":1}]}'))).toEqual({
    a: [hmac('x'), null, { b: hmac('1') }],
  })
})

it.each([
  ['"1980-05-17"', '"1980-01-01"'],
  ['"1980-05-17T00:00:00"', '"1980-01-01"'],
  ['"17 May"', 'null'],
  ['null', 'null'],
  ['1980', 'null'],
])('cuts %s to %s', (json, year) => {
  expect(yearOf(json)).toBe(year)
})
