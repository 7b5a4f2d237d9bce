import { describe, expect, it } from 'vitest'
import type { Stream } from './collections.ts'
import { keyOf, readScopes, streams } from './streams.ts'

/** The collections that the specification names, except terminals, which has no endpoint. */
const SPECIFIED =
  'absences absence-definitions absence-groups access-clockings activity-definitions activity-durations break-definitions breaks calculated-totals clockings contracts counters counter-definitions counter-groups departments employers job-categories jobs paid-presences people shift-definitions work-interruptions work-locations'

describe('the streams', () => {
  // spec: Service 2
  it('are all collections of the specification that have an endpoint, and more', () => {
    const collections = [...streams.values()].map(({ collection }) => collection)
    expect(collections).toEqual(expect.arrayContaining(SPECIFIED.split(' ')))
  })

  it('have names without hyphens, which some loaders take for separators', () => {
    expect([...streams.keys()].filter((name) => !/^[a-z]+(_[a-z]+)*$/.test(name))).toEqual([])
  })
})

describe('the key of a stream', () => {
  // spec: External references 2
  it.each([
    ['people', ['id']],
    ['external_references', ['collection', 'name', 'value']],
  ])('of %s is %j', (name, key) => {
    expect(keyOf(streams.get(name) as Stream)).toEqual(key)
  })
})

it('reading needs no scope but those for reading', () => {
  const scopes = [...streams.values()].flatMap(readScopes)
  expect(scopes.filter((scope) => !/^[a-z-]+\.read$/.test(scope))).toEqual([])
  expect(scopes).not.toContain('webhooks.read')
})
