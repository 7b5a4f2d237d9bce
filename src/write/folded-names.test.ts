import { expect, it } from 'vitest'
import { withNames } from './folded-names.ts'

it.each([
  [{ internalreference: 1 }, 1],
  [{ INTERNAL_REFERENCE: 1 }, 1],
  [{ internalReference: 1, internal_reference: 2 }, 1],
  [{ internal_reference: 2, internalReference: 1 }, 1],
  [{ internal: 1 }, undefined],
])('%j has the internalReference %s', (data, value) => {
  expect(withNames(data, ['internalReference'])['internalReference']).toBe(value)
})
