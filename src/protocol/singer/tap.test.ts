import { expect, it } from 'vitest'
import { withoutTwins } from './tap.ts'

it('has the first of two names that differ by case only', () => {
  const { properties } = withoutTwins({
    type: 'object',
    properties: { isoCode: {}, ISOCode: {}, id: {} },
  })
  expect(Object.keys(properties ?? {})).toEqual(['isoCode', 'id'])
})
