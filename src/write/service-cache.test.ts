import { describe, expect, it } from 'vitest'
import { ClientError } from '../client/client-error.ts'
import type { ExternalReference } from '../client/library.ts'
import { changesOf, createLinks, createServiceCache } from './service-cache.ts'
import { createFakeService } from './testing/fake-service.ts'

const links = () =>
  createLinks(
    [
      { value: 'A', id: '1' },
      { value: 'b', id: '2' },
    ],
    true,
  )

describe('links', () => {
  it.each([
    ['A', 'A'],
    ['A ', 'A'],
    ['a', 'a'],
    ['New', 'New'],
  ])('spell %j as %j', (value, spelled) => {
    expect(links().spelled(value)).toBe(spelled)
  })

  it.each([
    ['a', ['A']],
    ['B ', ['b']],
    ['C', []],
  ])('have values alike %j: %j', (value, alike) => {
    expect(links().alike(value)).toEqual(alike)
  })

  it('remove the old link of both sides', () => {
    const one = links()
    one.link('A', '2')
    expect([one.idOf('A'), one.idOf('b'), one.valueOfId('1'), one.valueOfId('2')]).toEqual([
      '2',
      undefined,
      undefined,
      'A',
    ])
  })

  it.each<[string, (one: ReturnType<typeof links>) => void, number]>([
    ['nothing', () => {}, 0],
    ['a new link', (one) => one.link('C', '3'), 0],
    ['a removed one', (one) => one.unlink('A'), 1],
    ['a moved one', (one) => one.link('A', '3'), 1],
    ['one that takes another', (one) => one.link('A', '2'), 2],
    [
      'one that is removed and put back',
      (one) => {
        one.unlink('A')
        one.link('A', '1')
      },
      0,
    ],
  ])('count as taken after %s', (_, change, taken) => {
    const [one, base] = [links(), links()]
    change(one)
    const changes = changesOf(base)
    change({ ...base, ...changes })
    expect([one.taken, base.takenAfter(changes)]).toEqual([taken, taken])
  })
})

const reference = (name: string, id: string | null): ExternalReference => ({
  collection: 'people',
  name,
  value: 'A',
  internalReference: id,
})

it.each([
  ['is empty', [], true],
  ['has the name', [reference('hr', '1')], true],
  ['has other names, too', [reference('hr', '1'), reference('x', '2')], true],
  ['has only the name in another case', [reference('HR', '1')], false],
  ['does not tell an id', [reference('hr', null)], false],
] as const)('a list that %s is complete: %s', async (_, listed, isComplete) => {
  const client = createFakeService({
    secondValue: 'replaces',
    hasEtags: false,
    lists: 'answer',
    trims: false,
    cases: 'two',
    blanks: 'kept',
    readsDigits: false,
    unknownRecord: 404,
    checkedFirst: 'record',
  }).connect()
  const list = async function* () {
    yield* listed
  }
  const cache = createServiceCache({ ...client, references: { ...client.references, list } })
  expect((await cache.links('people', 'hr')).isComplete).toBe(isComplete)
})

it.each([
  ['response-not-understood', undefined, false],
  ['not-offered', 404, false],
  ['no-access', 403, false],
] as const)('a list that fails with %s is not complete', async (id, status, isComplete) => {
  const failure = new ClientError('system', id, 'no list', { status })
  const references = {
    // biome-ignore lint/correctness/useYield: it fails first
    list: async function* () {
      throw failure
    },
  }
  const cache = createServiceCache({ references } as never)
  expect((await cache.links('people', 'hr')).isComplete).toBe(isComplete)
})
