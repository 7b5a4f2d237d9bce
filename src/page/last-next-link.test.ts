import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { lastNextLink } from './last-next-link.ts'

const LINK = '/connector/svcapi/api/v1/people?continuationToken=a%2Fb'

function linkOf(page: string): string | undefined {
  return lastNextLink([Buffer.from(page)])
}

describe('the next link at the end of a page', () => {
  it.each([
    ['behind the records', `{"value":[{"id":1}],"nextLink":"${LINK}"}`],
    ['in an indented page', `{\n  "value": [ ],\n  "nextLink": "${LINK}"\n}\n`],
    ['with escapes', `{"value":[],"nextLink":"${LINK.replaceAll('/', '\\/')}"}`],
    ['in a page of nothing else', `{"nextLink":"${LINK}"}`],
  ])('is found %s', (_where, page) => {
    expect(linkOf(page)).toBe(LINK)
  })

  it.each([
    ['is missing', '{"value":[]}'],
    ['is null', '{"value":[],"nextLink":null}'],
    ['is empty', '{"value":[],"nextLink":""}'],
    ['stands before the records', `{"nextLink":"${LINK}","value":[]}`],
    ['is only a record’s', `{"value":[{"nextLink":"${LINK}"}]}`],
    ['is only a text of a record', `{"value":[{"id":",\\"nextLink\\":\\"${LINK}\\"}"}]}`],
    ['is only the end of another name', `{"value":[],"x\\"nextLink":"${LINK}"}`],
    ['is cut off', `{"value":[],"nextLink":"${LINK}`],
    ['is longer than any link', `{"value":[],"nextLink":"${'x'.repeat(5000)}"}`],
  ])('is left to the scanner where it %s', (_how, page) => {
    expect(linkOf(page)).toBeUndefined()
  })

  it('is the page’s own or none, whatever the page holds and wherever it is cut', () => {
    const text = fc.string({
      unit: fc.constantFrom('"', '\\', ',', '{', '}', 'nextLink', ':', 'é'),
    })
    const member = fc.tuple(fc.constantFrom('nextLink', 'deltaLink', 'value', 'x'), text)
    const page = fc.array(member).map((members) => JSON.stringify(Object.fromEntries(members)))
    fc.assert(
      fc.property(page, fc.nat(), (body, cut) => {
        const bytes = Buffer.from(body)
        const at = cut % (bytes.length + 1)
        const found = lastNextLink([bytes.subarray(0, at), bytes.subarray(at)])
        if (found !== undefined) expect(found).toBe(JSON.parse(body).nextLink)
        const names = Object.keys(JSON.parse(body))
        if (names.at(-1) === 'nextLink' && JSON.parse(body).nextLink !== '')
          expect(found).toBeDefined()
      }),
    )
  })
})
