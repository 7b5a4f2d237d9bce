import { describe, expect, it } from 'vitest'
import { opensOrClosesQuote, parseCsvRecord } from './csv.ts'

describe('a CSV record', () => {
  it.each([
    ['a,b', ['a', 'b']],
    ['a,b\r', ['a', 'b']],
    ['', [undefined]],
    [',', [undefined, undefined]],
    ['"",x', ['', 'x']],
    ['"a,b","c ""d"""', ['a,b', 'c "d"']],
    ['"two\r\nlines",x', ['two\r\nlines', 'x']],
    [' a , b ', [' a ', ' b ']],
  ])('%j has the fields %j', (text, fields) => {
    expect(parseCsvRecord(text)).toEqual(fields)
  })

  it.each(['"a', 'a"b', '"a"b,c', 'a,"b'])('is not %j', (text) => {
    expect(parseCsvRecord(text)).toBeUndefined()
  })

  it.each([
    ['"a', true],
    ['"a""', true],
    ['"a","b"', false],
    ['a', false],
  ])('%j continues in the next line: %s', (text, isOpen) => {
    expect(opensOrClosesQuote(text)).toBe(isOpen)
  })
})
