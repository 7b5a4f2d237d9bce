import { describe, expect, it } from 'vitest'
import { compare, type Fields, isSame } from './compare.ts'

const ada = { id: 1, name: { default: 'Ada', translations: { nl: 'Ada' } }, until: null }

function differences(service: Fields[], rows: Fields[], key = ['id']) {
  const warehouse = rows.map((row) => JSON.stringify(row))
  return compare({ stream: 'people', key, service, warehouse })
}

describe('compare', () => {
  it('finds nothing if both sides are equal, whatever the order of rows and members', async () => {
    const bob = { id: 2, name: null }
    const turned = { until: null, name: { translations: { nl: 'Ada' }, default: 'Ada' }, id: 1 }
    expect(await differences([ada, bob], [bob, turned])).toEqual([])
  })

  it('treats null as an absent property, on either side', async () => {
    expect(await differences([{ id: 1, code: null }], [{ id: 1, town: null }])).toEqual([])
  })

  it('names the row and the property that differ deep inside', async () => {
    const changed = { ...ada, name: { default: 'Ada', translations: { nl: 'Ida' } } }
    expect(await differences([ada], [changed])).toEqual([
      {
        stream: 'people',
        id: '1',
        what: 'name is {"default":"Ada","translations":{"nl":"Ada"}} in the service and {"default":"Ada","translations":{"nl":"Ida"}} in the warehouse',
      },
    ])
  })

  it('reports a property that only the warehouse has', async () => {
    const [found] = await differences([{ id: 1 }], [{ id: 1, town: 'Gent' }])
    expect(found?.what).toBe('town is null in the service and "Gent" in the warehouse')
  })

  it('reports a record that the warehouse misses', async () => {
    const [found] = await differences([ada], [])
    expect(found).toMatchObject({ id: '1', what: 'is in the service, but not in the warehouse' })
  })

  it('reports a row that should have been deleted', async () => {
    const [found] = await differences([], [ada])
    expect(found).toMatchObject({ id: '1', what: 'is in the warehouse, but not in the service' })
  })

  it('reports a repeated row', async () => {
    const [found] = await differences([ada], [ada, ada])
    expect(found?.what).toBe('is in the warehouse twice')
  })

  it('identifies rows by all columns of the key', async () => {
    const reference = { collection: 'people', name: 'payroll', value: 'P/1' }
    const [found] = await differences([reference], [], ['collection', 'name', 'value'])
    expect(found?.id).toBe('people, payroll, P/1')
  })
})

describe('isSame', () => {
  it.each([
    [[], {}],
    [
      [1, 2],
      [2, 1],
    ],
    [{ a: undefined }, { b: undefined }],
    ['1', 1],
    [null, {}],
  ])('tells %j from %j', (a, b) => {
    expect(isSame(a, b)).toBe(false)
  })
})
