import { describe, expect, it } from 'vitest'
import { acmeEndpoints as endpoints } from './testing/acme-endpoints.ts'
import { hasScope, type Token } from './token.ts'

describe('what a token covers', () => {
  const token = (...scopes: string[]): Token => ({
    value: 't',
    scopes: new Set(scopes),
    isNarrow: false,
  })

  // spec: Token endpoint: answer
  // spec: Authentication 6
  it.each([
    ['the scope', token('connector-svcapi-people.read'), true],
    ['one of the scopes', token('connector-svcapi-histories.read'), true],
    ['the general scope', token('connector-svcapi-all.read'), true],
    ['another scope', token('connector-svcapi-jobs.read'), false],
    [
      'the right to write only',
      token('connector-svcapi-people.write', 'connector-svcapi-all.write'),
      false,
    ],
    ['nothing', token(), false],
    ['what is not known', { value: 't', scopes: undefined, isNarrow: true }, true],
  ])('with %s', (_, held, expected) => {
    expect(hasScope(held, endpoints, ['people.read', 'histories.read'])).toBe(expected)
  })
})
