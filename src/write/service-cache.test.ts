import { describe, expect, it } from 'vitest'
import { ClientError } from '../client/client-error.ts'
import type { ExternalReference } from '../client/library.ts'
import { changesOf, createLinks, createServiceCache, lookUpReference } from './service-cache.ts'
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

  it('spell each value as it is listed, or linked, even if two differ only in spaces', () => {
    const both = ['A', 'A ']
    const one = createLinks(
      both.map((value, i) => ({ value, id: `${i}` })),
      true,
    )
    expect(both.map(one.spelled)).toEqual(both)
    const other = links()
    other.link('A ', '3')
    expect(both.map(other.spelled)).toEqual(both)
  })

  it('have no values alike that are linked no more', () => {
    const one = links()
    one.unlink('A')
    expect(one.alike('a')).toEqual([])
  })

  it.each<[string, (one: ReturnType<typeof links>) => void, boolean, string[]]>([
    ['the list has', () => {}, false, ['A', 'b']],
    ['was moved', (one) => one.link('A', '3'), true, ['A', 'b']],
    ['was removed', (one) => one.unlink('A'), false, ['b']],
    [
      'was removed and put back',
      (one) => {
        one.unlink('A')
        one.link('A', '1')
      },
      false,
      ['A', 'b'],
    ],
  ])('of a value that %s are of this run, and have as values: %#', (_, change, isOurs, values) => {
    const one = links()
    change(one)
    expect([one.isOurs('A'), [...one.values()]]).toEqual([isOurs, values])
  })

  it('of a new value are of this run', () => {
    const one = links()
    one.link('C', '3')
    expect([one.isOurs('C'), [...one.values()]]).toEqual([true, ['A', 'b', 'C']])
  })

  it('keep the other value of a record that is listed with two', () => {
    const one = createLinks(
      ['A', 'B'].map((value) => ({ value, id: '1' })),
      true,
    )
    one.unlink('A')
    expect([one.idOf('A'), one.valueOfId('1')]).toEqual([undefined, 'B'])
  })

  it('are changed only when changes are committed: first what is removed', () => {
    const calls: string[] = []
    const changes = changesOf({
      ...links(),
      link: (value, id) => void calls.push(`${value}=${id}`),
      unlink: (value) => void calls.push(`-${value}`),
    })
    changes.link('C', '3')
    changes.link('A', '2')
    expect([[...changes.changed()], calls]).toEqual([['C', 'A', 'b'], []])
    changes.commit()
    expect(calls).toEqual(['-C', '-A', '-b', 'C=3', 'A=2'])
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

/** A cache whose lists fail in this way. */
function failing(error: Error) {
  const references = {
    // biome-ignore lint/correctness/useYield: it fails first
    list: async function* () {
      throw error
    },
  }
  return createServiceCache({ references } as never)
}

it.each([
  ['system', 'response-not-understood', undefined],
  ['config', 'not-offered', 404],
  ['config', 'no-access', 403],
] as const)('a list that fails with %s %s %s is not complete', async (failure, id, status) => {
  const error = new ClientError(failure, id, 'no list', { status })
  expect((await failing(error).links('people', 'hr')).isComplete).toBe(false)
})

it.each([
  ['an error of the program', new TypeError('not a function')],
  ['no response', new ClientError('transient', 'host-not-reached', 'no response')],
  [
    'a response that is a fault',
    new ClientError('system', 'service-fails', 'at fault', { status: 500 }),
  ],
])('a list that fails with %s ends the run', async (_, error) => {
  await expect(failing(error).links('people', 'hr')).rejects.toBe(error)
})

describe('a cache', () => {
  /** A cache of a service that counts what is listed. */
  function counting() {
    const listed: string[] = []
    const references = {
      async *list(collection: string, name: string) {
        listed.push(`${collection} ${name}`)
        yield reference(name, null)
      },
    }
    const workLocations = {
      async *list() {
        listed.push('work locations')
        yield* [{ id: '1' }, { id: '2' }]
      },
    }
    return { listed, cache: createServiceCache({ references, workLocations } as never) }
  }

  it('reads each list once, until it is to forget it', async () => {
    const { listed, cache } = counting()
    for (const name of ['hr', 'payroll', 'hr']) await cache.links('people', name)
    cache.forget('people', 'hr')
    for (const name of ['hr', 'payroll']) await cache.links('people', name)
    expect(listed).toEqual(['people hr', 'people payroll', 'people hr'])
  })

  it('reads all work locations once, or again when told so', async () => {
    const { listed, cache } = counting()
    expect([...(await cache.workLocations()).keys()]).toEqual(['1', '2'])
    await cache.workLocations()
    expect(listed).toHaveLength(1)
    const again = cache.readWorkLocations()
    expect(cache.workLocations()).toBe(again)
    await again
    expect(listed).toHaveLength(2)
  })

  it('has a list without ids, also of records whose ids are not case-sensitive', async () => {
    const found = await counting().cache.links('activity-definitions', 'hr')
    expect([found.isComplete, found.initialSize, found.idOf('A')]).toEqual([false, 1, undefined])
  })
})

describe('a value that is looked up', () => {
  const found = (get: () => Promise<unknown>, collection = 'people') =>
    lookUpReference({ references: { get } } as never, collection, 'hr', 'A')

  it.each([
    ['people', 'AB', { id: 'AB' }],
    ['activity-definitions', 'AB', { id: 'ab' }],
    ['people', null, 'unanswered'],
    ['people', undefined, undefined],
  ])('of %s with the id %j is %j', async (collection, id, expected) => {
    const get = async () => (id === undefined ? undefined : reference('hr', id))
    expect(await found(get, collection)).toEqual(expected)
  })

  it('has no response if the service refuses to tell', async () => {
    const refusal = new ClientError('config', 'request-not-accepted', 'no', { status: 400 })
    expect(await found(() => Promise.reject(refusal))).toBe('unanswered')
  })

  it('ends the run with any other error', async () => {
    const error = new ClientError('transient', 'host-not-reached', 'no response')
    await expect(found(() => Promise.reject(error))).rejects.toBe(error)
  })
})
