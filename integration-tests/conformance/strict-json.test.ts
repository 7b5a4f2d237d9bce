import { expect, it } from 'vitest'
import { parseStrictly } from './strict-json.ts'

const parsed = (data: string) =>
  parseStrictly(`{"type":"RECORD","record":{"data":${data}}}`).record?.data

it('takes 1.0 and 1e2 for fractions', () => {
  expect(parsed('{"a":1.0,"b":1e2,"c":-3.00}')).toEqual({ a: 1.5, b: 100.5, c: -3.5 })
})

it('leaves integers, fractions and texts as they are', () => {
  const data = '{"a":1,"b":-2.25,"c":"1.0 \\" 2.0","d":[0,10]}'
  expect(parsed(data)).toEqual(JSON.parse(data))
})
